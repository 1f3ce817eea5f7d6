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
  ///   - omitted: How many of the skipped objects are left out for other reasons than that the store
  ///     or the file has their keys, each with the words for the reason.
  /// - Returns: The line.
  package static func summary(
    of report: ImportReport,
    omitted: [(count: Int, reason: String)] = []
  ) -> String {
    let repeated = report.repeatedKeys
    let others = omitted.reduce(repeated?.count ?? 0) { $0 + $1.count }
    let counts =
      [
        (report.inserted, "added"), (report.updated, "replaced"), (report.unchanged, "unchanged"),
        (report.skipped - others, "already in the store and kept"),
        (repeated?.count ?? 0, repeated.map(text) ?? ""),
      ] + omitted.map { ($0.count, $0.reason) }
    let parts = counts.filter { $0.0 > 0 || $0.1 == "added" }.map { "\($0) \($1)" }
    return "objects: \(parts.joined(separator: ", "))\n"
  }

  private static func text(_ repeated: ImportReport.RepeatedKeys) -> String {
    "left out because the file has the key before (first: \(repeated.unit) \(repeated.line) with the "
      + "key of \(repeated.unit) \(repeated.keptLine))"
  }
}
