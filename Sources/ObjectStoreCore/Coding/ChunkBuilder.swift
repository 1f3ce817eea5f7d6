/// A mutable copy of the chunk of several neighboring objects in a table.
protocol ChunkBuilder: AnyObject {
  /// Whether the chunk has no object.
  var isEmpty: Bool { get }
  /// Whether it was changed.
  var isChanged: Bool { get }
  /// The bytes of the chunk, valid until the next change.
  ///
  /// The checksum is stale after a change until ``seal(seed:)`` updates it.
  @unsafe var bytes: UnsafeRawBufferPointer { get }
  /// Writes the checksum, after which the chunk can be stored.
  func seal(seed: UInt64)
}
