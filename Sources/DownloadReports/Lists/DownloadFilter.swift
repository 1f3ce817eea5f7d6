package import DownloadStore
package import ObjectStore

/// A selection of downloads by their properties, as commands and requests state it.
///
/// A download is selected if it matches all properties that are given.
package struct DownloadFilter: Sendable, Hashable {
  /// The names of states, of `DownloadState.words`; empty for all states.
  package var states: [String] = []
  /// The tags that a selected download has.
  package var tags: [String] = []
  /// The type; `nil` for any.
  package var type: String?
  /// A shell pattern for the URL or the file name; `nil` for any.
  package var pattern: String?
  /// A host or a pattern for hosts, also with a port; `nil` for any.
  package var host: String?

  /// Creates a filter that selects all downloads.
  package init() {}

  /// Whether no property is given.
  package var isEmpty: Bool { self == DownloadFilter() }

  /// Returns the stored states that are selected; `nil` for all that are shown.
  ///
  /// - Parameter engineRuns: Whether an engine runs on the store. Without one, no download is running.
  /// - Returns: The states.
  package func storedStates(engineRuns: Bool) -> [DownloadState]? {
    guard !states.isEmpty else { return nil }
    return states.flatMap { DownloadState.states(named: $0, engineRuns: engineRuns) }
  }

  /// Returns the condition of a query; states, tags and the type use indexes.
  ///
  /// - Parameters:
  ///   - engineRuns: Whether an engine runs on the store.
  ///   - includesRemoved: Whether removed downloads, whose files are still to be deleted, are selected.
  /// - Returns: The condition.
  package func condition(
    engineRuns: Bool,
    includesRemoved: Bool = false
  ) -> Filter<DownloadRecord> {
    labelCondition && stateCondition(engineRuns, includesRemoved) && urlCondition
  }

  private var labelCondition: Filter<DownloadRecord> {
    let columns = DownloadRecord.columns
    var condition = Filter<DownloadRecord>.all
    if let type { condition = columns.type == type }
    for tag in tags { condition = columns.tags.contains(tag) && condition }
    return condition
  }

  private func stateCondition(
    _ engineRuns: Bool,
    _ includesRemoved: Bool
  ) -> Filter<DownloadRecord> {
    let state = DownloadRecord.columns.state
    // Records that are about to be deleted are not shown.
    guard let wanted = storedStates(engineRuns: engineRuns) else {
      return includesRemoved ? .all : state != .removed
    }
    return wanted.isEmpty ? .none : state.isIn(wanted)
  }

  /// No index serves it.
  private var urlCondition: Filter<DownloadRecord> {
    let columns = DownloadRecord.columns
    var condition = Filter<DownloadRecord>.all
    if let pattern {
      let glob = GlobPattern(pattern)
      let fits: @Sendable (String) -> Bool = { glob.matches($0) }
      condition = condition && (columns.url.satisfies(fits) || columns.filename.satisfies(fits))
    }
    if let host {
      let host = HostPattern(host)
      condition = condition && columns.url.satisfies { host.matches(url: $0) }
    }
    return condition
  }
}
