internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// What the options of a command select: the downloads that match all of them.
///
/// A command has the three groups side by side: in a debug build, the parser examines a group four
/// times as often as the group around it.
struct RecordFilter {
  var state: StateFilter
  var labels: LabelFilter
  var url: URLFilter

  /// Whether no option was given.
  var isEmpty: Bool { state.isEmpty && labels.isEmpty && url.isEmpty }

  /// What the options select, without their groups.
  var filter: DownloadFilter {
    var filter = DownloadFilter()
    filter.states = state.states.flatMap(\.self)
    filter.tags = labels.tags
    filter.type = labels.type
    filter.pattern = url.pattern
    filter.host = url.host
    return filter
  }

  /// The condition of the query; states, tags and the type use indexes.
  ///
  /// - Parameters:
  ///   - engineRuns: Whether an engine runs on the store.
  ///   - includesRemoved: Whether removed downloads, whose files are still to be deleted, are selected.
  /// - Returns: The condition.
  func condition(
    engineRuns: Bool,
    includesRemoved: Bool = false
  ) -> Filter<DownloadRecord> {
    filter.condition(engineRuns: engineRuns, includesRemoved: includesRemoved)
  }

  /// The options as words of a command line.
  var arguments: [String] { state.arguments + labels.arguments + url.arguments }

  /// The options as the user would write them.
  var words: [String] { state.words + labels.words + url.words }
}
