/// The part of a partial file that its digest does not cover yet, and the source of these bytes:
/// memory or the file.
///
/// The writer appends bytes and a worker hashes them. Appended bytes stay in memory up to
/// `capacity`. Bytes beyond it, and those from before the transfer, are read from the file. So a
/// slow worker costs the writer only a copy of the bytes, and memory is bounded.
struct DigestBacklog: Sendable {
  /// The worker's next step.
  enum Step: Sendable, Equatable {
    /// Hash these bytes.
    case hash([UInt8])
    /// Read this range of the file and hash it.
    case read(Range<Int64>)
    /// Restart the digest: bytes that were hashed have been overwritten or cut off.
    case reset
  }

  /// The maximum length of a read from the file, in bytes.
  let readLength: Int64
  /// The maximum number of bytes in memory.
  let capacity: Int

  /// The bytes before this offset have been given to the worker.
  private var taken: Int64 = 0
  /// The bytes before this offset have been written.
  private var end: Int64
  /// The appended bytes that follow `taken`.
  private var chunks: [[UInt8]] = []
  private var nextChunk = 0
  /// The number of bytes in the remaining chunks.
  private var held = 0
  /// Whether the worker must restart the digest.
  private(set) var isOutdated = false
  /// The number of bytes that the worker had to read from the file.
  private(set) var bytesRead: Int64 = 0

  /// Creates the backlog of a file with `end` bytes, none of them hashed.
  init(end: Int64, readLength: Int64, capacity: Int) {
    self.end = end
    self.readLength = readLength
    self.capacity = capacity
  }

  /// Notes bytes that were written at the end.
  mutating func append(_ bytes: Span<UInt8>) {
    // Bytes after a gap are not kept: they would stay in memory until the gap has been read.
    if taken + Int64(held) == end, held + bytes.count <= capacity, !bytes.isEmpty {
      chunks.append(unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) })
      held += bytes.count
    }
    end += Int64(bytes.count)
  }

  /// Notes that the next bytes are written at `offset`, and that the bytes from there on are
  /// invalid.
  ///
  /// Call this before the file changes, so that a concurrent read is known to be outdated.
  mutating func seek(to offset: Int64) {
    if offset < taken {
      isOutdated = true
      taken = 0
    }
    end = offset
    dropChunks()
  }

  /// Returns the worker's next step, and counts it as done; `nil` if all bytes are hashed.
  mutating func next() -> Step? {
    if isOutdated {
      isOutdated = false
      return .reset
    }
    if nextChunk < chunks.count {
      let bytes = chunks[nextChunk]
      chunks[nextChunk] = []
      nextChunk += 1
      held -= bytes.count
      taken += Int64(bytes.count)
      if nextChunk == chunks.count { dropChunks() }
      return .hash(bytes)
    }
    guard taken < end else { return nil }
    let part = taken..<min(end, taken + readLength)
    taken = part.upperBound
    bytesRead += part.upperBound - part.lowerBound
    return .read(part)
  }

  private mutating func dropChunks() {
    chunks.removeAll(keepingCapacity: true)
    nextChunk = 0
    held = 0
  }
}
