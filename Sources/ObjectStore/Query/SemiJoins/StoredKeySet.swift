/// Some keys as they are stored, to be asked for one.
struct StoredKeySet: Sendable {
  private let keys: [[UInt8]]
  /// Most of what is not there is told by its hash.
  private let hashes: Set<UInt64>

  /// - Precondition: `keys` are in order.
  init(_ keys: [[UInt8]]) {
    self.keys = keys
    hashes = Set(keys.map { XXHash64.hash($0, seed: 0) })
  }

  func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    guard hashes.contains(unsafe XXHash64.hash(key, seed: 0)) else { return false }
    let place = keys.partitionPoint { unsafe key.compare(to: $0) <= 0 }
    guard place < keys.count else { return false }
    return unsafe key.isSame(as: keys[place])
  }
}
