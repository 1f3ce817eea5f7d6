package import DownloadStore

extension DownloadRecord {
  /// Why a complete download is not refreshed; `nil` if it can be, or is not complete.
  package var refreshObstacle: String? {
    state == .completed && !isRefreshable ? "its file was not downloaded by this store" : nil
  }
}
