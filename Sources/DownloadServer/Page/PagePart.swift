internal import DownloadStore

/// A part of the content of a page.
enum PagePart: Sendable {
  /// Markup that needs no search.
  case ready(HTML)
  /// Markup that is read from the store, which may be searched for it.
  case read(@Sendable (RecordStore) throws -> HTML)

  /// Whether the store need not be read.
  var isReady: Bool {
    switch self {
    case .ready: true
    case .read: false
    }
  }
}
