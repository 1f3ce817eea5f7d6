/// What of a partial file is not in its digest yet, and where those bytes come from: as they were
/// handed over while they streamed, or from the file.
///
/// The writer adds, a worker takes. Bytes are handed over as long as there is room; what finds none,
/// and what was there before the transfer, is read from the file. So a slow worker costs the writer
/// nothing but a copy, and memory has a bound.
struct DigestBacklog: Sendable {
  /// What the worker does next.
  enum Step: Sendable, Equatable {
    /// Take these bytes.
    case hash([UInt8])
    /// Read this part of the file, and take it.
    case read(Range<Int64>)
    /// Begin anew: what was taken is not what the file has now.
    case reset
  }

  /// The most that is read from the file at once, in bytes.
  let readLength: Int64
  /// The bytes that may wait in memory.
  let capacity: Int

  /// All bytes before it are taken, or are being taken.
  private var taken: Int64 = 0
  /// All bytes before it are written.
  private var end: Int64
  /// The bytes that follow those that are taken, as they were handed over.
  private var chunks: [[UInt8]] = []
  private var nextChunk = 0
  /// The bytes in the chunks that are left.
  private var held = 0
  /// Whether what was taken does not count any more.
  private(set) var isOutdated = false
  /// The bytes that had to be read from the file.
  private(set) var bytesRead: Int64 = 0

  /// A file with so many bytes, of which none is taken.
  init(end: Int64, readLength: Int64, capacity: Int) {
    self.end = end
    self.readLength = readLength
    self.capacity = capacity
  }

  /// Notes bytes that were written at the end.
  mutating func append(_ bytes: Span<UInt8>) {
    // Behind bytes that are not handed over they would only wait for them.
    if taken + Int64(held) == end, held + bytes.count <= capacity, !bytes.isEmpty {
      chunks.append(unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) })
      held += bytes.count
    }
    end += Int64(bytes.count)
  }

  /// Notes that the next bytes go to `offset`, and that those from there on count no more.
  ///
  /// To be said before the file is changed: a part that is being read then is known for outdated.
  mutating func seek(to offset: Int64) {
    if offset < taken {
      isOutdated = true
      taken = 0
    }
    end = offset
    dropChunks()
  }

  /// What the worker does next, and what then counts as done; `nil` when all is taken.
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
