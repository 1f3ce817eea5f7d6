internal import ObjectStore

/// The downloads that a command applies to.
public enum RecordSelection: Sendable, Hashable {
  /// The downloads with these URLs, ids or unique id prefixes.
  case matching([String])
  /// The downloads with a tag.
  case tagged(String)
  /// All downloads of the store.
  case all

  /// The download with a URL, an id or a unique id prefix.
  public static func matching(_ name: String) -> Self { .matching([name]) }

  /// The condition for the selected records in the given states; `nil` for downloads given by name.
  ///
  /// An index serves the condition.
  func filter(_ states: [DownloadState]) -> Filter<DownloadRecord>? {
    let columns = DownloadRecord.columns
    switch self {
    case .matching: return nil
    case .tagged(let tag): return columns.tags.contains(tag) && columns.state.isIn(states)
    case .all: return columns.state.isIn(states)
    }
  }
}
