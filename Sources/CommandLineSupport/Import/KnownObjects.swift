internal import ArgumentParser
package import ObjectStore

/// The handling of imported objects that are already in the store.
package enum KnownObjects: String, CaseIterable, ExpressibleByArgument, Sendable {
  case keep
  case replace
  case fail

  /// The options of the library.
  package var options: ImportOptions {
    switch self {
    case .keep: ImportOptions(conflict: .skip)
    case .replace: ImportOptions(conflict: .replace)
    case .fail: ImportOptions(conflict: .fail)
    }
  }

  /// The line that says what an import did.
  ///
  /// - Parameters:
  ///   - report: The counts.
  ///   - removed: How many of the skipped objects are records that their users have removed.
  /// - Returns: The line.
  package static func summary(of report: ImportReport, removed: Int = 0) -> String {
    let repeated = report.repeatedKeys
    let counts = [
      (report.inserted, "added"), (report.updated, "replaced"), (report.unchanged, "unchanged"),
      (report.skipped - removed - (repeated?.count ?? 0), "already in the store and kept"),
      (repeated?.count ?? 0, repeated.map(text) ?? ""), (removed, "removed and left out"),
    ]
    let parts = counts.filter { $0.0 > 0 || $0.1 == "added" }.map { "\($0) \($1)" }
    return "objects: \(parts.joined(separator: ", "))\n"
  }

  private static func text(_ repeated: ImportReport.RepeatedKeys) -> String {
    "left out because the file has the key before (first: \(repeated.unit) \(repeated.line) with the "
      + "key of \(repeated.unit) \(repeated.keptLine))"
  }
}
