/// The result of checking a program's models against the files of their releases.
public struct SchemaReport: Sendable, Hashable {
  /// The differences from the newest release; empty if there is no release.
  public var changes: [SchemaChange]
  /// The faults that prevent a release, in sentences; empty if there are none.
  public var problems: [String]
  /// The number of the newest release; `nil` if there is none.
  public var release: Int?

  /// The most serious verdict of the changes.
  public var verdict: SchemaVerdict { changes.map(\.verdict).max() ?? .safe }
}

extension SchemaReport: CustomStringConvertible {
  /// One line for each change and problem, and the verdict.
  public var description: String {
    let since = release.map { "since release \($0)" } ?? "there is no release yet"
    let lines = changes.map(\.description) + problems.map { "problem: \($0)" }
    return (lines + ["verdict: \(verdict.words) (\(since))"]).joined(separator: "\n")
  }
}

/// An error of a check of the schema.
public struct SchemaError: Error, Sendable, Hashable {
  /// The report of the check.
  public var report: SchemaReport
}

extension SchemaError: CustomStringConvertible {
  /// The report.
  public var description: String { report.description }
}
