import Foundation

/// What the pages of a store's file hold, each as a hash.
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

  /// How many pages have changed or are new.
  func difference(from old: PageDigests) -> Int {
    zip(hashes, old.hashes).count { $0 != $1 } + max(0, hashes.count - old.hashes.count)
  }
}
