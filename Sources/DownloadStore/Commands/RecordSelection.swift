internal import ObjectStore

/// Which downloads a wish is about.
public enum RecordSelection: Sendable, Hashable {
  /// Those of the URLs, ids, or beginnings of ids.
  case named([String])
  /// Those that have the tag.
  case tagged(String)
  /// All of the store.
  case all

  /// The download of a URL, an id, or the beginning of one.
  public static func named(_ name: String) -> Self { .named([name]) }

  /// The condition on the records in some states; `nil` where they are named one by one.
  ///
  /// An index serves it.
  func predicate(_ states: [DownloadState]) -> Predicate<DownloadRecord>? {
    let columns = DownloadRecord.columns
    switch self {
    case .named: return nil
    case .tagged(let tag): return columns.tags.contains(tag) && columns.state.isIn(states)
    case .all: return columns.state.isIn(states)
    }
  }
}
