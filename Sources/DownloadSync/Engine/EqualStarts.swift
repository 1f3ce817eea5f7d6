internal import DownloadStore

/// The downloads that wait until a transfer with the same required digest is over, to copy its file, and
/// the finished files that are not copied.
///
/// A waiting download has no slot and is not in the queue. It returns when the other transfer has ended
/// in any way, or is slow: then one of the waiting downloads requests the bytes, and the others wait for
/// that one. Pure.
struct EqualStarts: Sendable {
  /// The URLs by digest, in the order of their starts.
  private var waiting: [String: [String]] = [:]
  /// The ids of the records whose finished files turned out not to have their bytes, or could not be
  /// read.
  private(set) var refused: Set<String> = []

  /// Whether no download waits.
  var isEmpty: Bool { waiting.isEmpty }

  /// Notes that a finished file is of no use for the rest of the run.
  mutating func refuse(_ file: EqualFile) {
    refused.insert(file.recordID)
  }

  /// Adds a download that waits for a transfer with a digest.
  mutating func insert(_ url: String, for digest: String) {
    waiting[digest, default: []].append(url)
  }

  /// Removes and returns the URLs of the downloads that need not wait any more.
  ///
  /// - Parameter running: The digests of the transfers that others wait for.
  /// - Returns: The URLs, in the order of the digests and of the starts.
  mutating func takeFree(beside running: Set<String>) -> [String] {
    let free = waiting.keys.filter { !running.contains($0) }.sorted()
    return free.flatMap { waiting.removeValue(forKey: $0) ?? [] }
  }
}
