import Foundation

/// Reads a packed record from front to back.
struct PackedReader {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func download() -> Download {
    let received = integer(Int64.self)
    let updatedAt = date() ?? .distantPast
    let progress = Download.Progress(
      received: received,
      updatedAt: updatedAt,
      resolvedBytes: integer(),
      unresolvedStarts: integer()
    )
    let expected = integer(Int64.self)
    let generation = integer(Int64.self)
    let createdAt = date() ?? .distantPast
    let completedAt = date()
    let nextRetryAt = date()
    let priority = integer(Int32.self)
    let failedAttempts = integer(Int32.self)
    let state = integer(UInt8.self)
    let intent = integer(UInt8.self)
    let isHeldByHand = integer(UInt8.self) == 1
    let hasHeaders = integer(UInt8.self) == 1
    let lengths = (
      length(), length(), length(), length(), length(), length(), length()
    )
    let tagCount = length()
    let blobSize = Int(integer(Int32.self))
    let url = text(lengths.0)
    let id = text(lengths.1)
    let filename = text(lengths.2)
    let folder = text(lengths.3)
    let destination = text(lengths.4)
    let type = text(lengths.5)
    let entityTag = text(lengths.6)
    let tags = Set((0..<tagCount).map { _ in text(length()) })
    return Download(
      url: url,
      id: id,
      filename: filename,
      folder: folder,
      destination: destination,
      type: type,
      entityTag: entityTag.isEmpty ? nil : entityTag,
      tags: tags,
      resumeBlob: blobSize < 0 ? nil : Data(take(blobSize)),
      progress: progress,
      expected: expected < 0 ? nil : expected,
      generation: generation,
      createdAt: createdAt,
      completedAt: completedAt,
      nextRetryAt: nextRetryAt,
      priority: priority,
      failedAttempts: failedAttempts,
      state: state,
      intent: intent,
      isHeldByHand: isHeldByHand,
      hasHeaders: hasHeaders
    )
  }

  private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    defer { offset += count }
    return bytes[offset..<offset + count]
  }

  private mutating func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) -> Integer {
    let slice = take(MemoryLayout<Integer>.size)
    return unsafe slice.withUnsafeBytes { unsafe $0.loadUnaligned(as: type) }
  }

  private mutating func length() -> Int { Int(integer(UInt16.self)) }

  private mutating func date() -> Date? {
    let seconds = Double(bitPattern: integer(UInt64.self))
    return seconds.isNaN ? nil : Date(timeIntervalSinceReferenceDate: seconds)
  }

  private mutating func text(_ length: Int) -> String {
    String(decoding: take(length), as: UTF8.self)
  }
}
