package import DownloadStore

/// What the commands say about refreshes.
package enum RefreshSentence {
  /// Returns the part of a summary about files that servers no longer have; empty for none.
  package static func gone(_ count: Int) -> String {
    count > 0 ? "\(count) \(count == 1 ? "is" : "are") gone from the server, " : ""
  }
}

extension DownloadRecord {
  /// Why a complete download is not refreshed; `nil` if it can be, or is not complete.
  package var refreshObstacle: String? {
    state == .completed && !isRefreshable ? "its file was not downloaded by this store" : nil
  }
}
