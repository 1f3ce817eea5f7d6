internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// Options that select records by pattern and type.
struct RecordPatternFilter: ParsableArguments {
  @Option(
    name: .customLong("match"),
    help: ArgumentHelp(
      "Select downloads whose URL or file name matches the pattern: * ? [a-z] [!a-z].",
      valueName: "glob"
    )
  )
  var pattern: String?

  @Option(help: ArgumentHelp("Select downloads of this type.", valueName: "type"))
  var type: String?

  /// Whether no option was given.
  var isEmpty: Bool { pattern == nil && type == nil }

  /// The condition of the query; the type uses an index.
  var condition: Filter<DownloadRecord> {
    let columns = DownloadRecord.columns
    var condition: Filter<DownloadRecord> = columns.state != .removed
    if let type { condition = columns.type == type && condition }
    if let pattern {
      let glob = GlobPattern(pattern)
      let fits: @Sendable (String) -> Bool = { glob.matches($0) }
      condition = condition && (columns.url.satisfies(fits) || columns.filename.satisfies(fits))
    }
    return condition
  }
}
