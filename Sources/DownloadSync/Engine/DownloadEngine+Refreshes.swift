internal import DownloadStore
internal import Foundation
internal import Logging

extension DownloadEngine {
  /// Requests the refreshes that are due, and queues their downloads.
  ///
  /// The store has an index of their times, so this costs a short read while none is due. More than a
  /// page of them continue in the next turn.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `StoreError`.
  func requestDueRefreshes() async throws {
    guard options.scope == nil || options.refreshesScope else { return }
    let moment = now()
    guard let cutoff = refreshes.cutoff(at: moment, environment.instant()) else { return }
    let urls: [String]
    if options.scope != nil {
      urls = try store.dueRefreshes(at: cutoff).filter(options.isOwn).sorted()
    } else {
      urls = try store.dueRefreshes(at: cutoff, limit: RefreshSchedule.page)
      refreshes.noteFound(urls.count)
    }
    guard !urls.isEmpty else { return }
    let requested = try await commit { [store, roots = locations.roots] tx in
      try store.requestRefreshes(urls, dueAt: cutoff, at: moment, roots, in: &tx)
    }
    for record in requested {
      log("refresh", record)
      if options.scope == nil { offer(record, isNew: false) } else { enqueue(record) }
    }
    if refreshes.hasMore { inbox.post(.ticked) }
  }
}
