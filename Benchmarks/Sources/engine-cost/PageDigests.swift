import Foundation

/// A hash of each page of a store's data file.
struct PageDigests {
  private static let pageSize = 4096
  private var hashes: [Int] = []

  init(of store: String) {
    guard let file = FileHandle(forReadingAtPath: store + "/data.mdb") else { return }
    while let chunk = try? file.read(upToCount: Self.pageSize << 10), !chunk.isEmpty {
      for start in stride(from: chunk.startIndex, to: chunk.endIndex, by: Self.pageSize) {
        hashes.append(chunk[start..<min(start + Self.pageSize, chunk.endIndex)].hashValue)
      }
    }
  }

  /// Returns the number of changed or new pages.
  func difference(from old: PageDigests) -> Int {
    zip(hashes, old.hashes).count { $0 != $1 } + max(0, hashes.count - old.hashes.count)
  }
}
