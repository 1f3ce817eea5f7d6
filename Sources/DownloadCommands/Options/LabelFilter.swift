internal import ArgumentParser

/// The options that select records by tag and type.
struct LabelFilter: ParsableArguments {
  @Option(
    name: .customLong("tag"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Select downloads with this tag; of several, with all of them.",
      valueName: "tag[,tag]"
    ),
    transform: TagList.parse
  )
  var tagLists: [[String]] = []

  @Option(help: ArgumentHelp("Select downloads of this type.", valueName: "type"))
  var type: String?

  /// The tags that a selected download has.
  var tags: [String] { tagLists.flatMap(\.self) }

  /// Whether no option was given.
  var isEmpty: Bool { tagLists.isEmpty && type == nil }

  /// The options as words of a command line.
  var arguments: [String] {
    tags.flatMap { ["--tag", $0] } + (type.map { ["--type", $0] } ?? [])
  }

  /// The options as the user would write them.
  var words: [String] { tags.map { "--tag '\($0)'" } + (type.map { ["--type '\($0)'"] } ?? []) }
}
