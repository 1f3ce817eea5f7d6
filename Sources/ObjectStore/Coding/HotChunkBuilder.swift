/// A chunk that is being changed.
final class HotChunkBuilder {
  private var writer: ByteWriter
  /// Whether a part was set or removed.
  private(set) var isChanged = false

  /// A chunk without parts.
  init() {
    writer = ByteWriter(capacity: 1_024)
    writer.appendZeros(HotChunk.headerSize)
  }

  init(_ chunk: HotChunkView) {
    writer = ByteWriter(capacity: unsafe chunk.bytes.count)
    unsafe writer.append(chunk.bytes)
  }

  /// The chunk as it is now: valid until it changes.
  ///
  /// Its checksum is that of the last ``seal(number:)``.
  @unsafe var view: HotChunkView { unsafe HotChunkView(checked: writer.buffer) }

  /// Writes the checksum; the chunk is then ready to be stored.
  func seal(number: UInt64) {
    writer.patch(unsafe RecordHeader.checksum(of: writer.buffer, seed: number), at: 0)
  }

  /// Sets the part of the object.
  func set(
    _ part: UnsafeRawBufferPointer,
    layoutNumber: UInt16,
    of objectID: UInt64
  ) throws(RecordError) {
    isChanged = true
    let chunk = unsafe view
    let slot = HotChunk.slot(of: objectID)
    let checksum = unsafe HotChunk.Part(layoutNumber: layoutNumber, bytes: part)
      .checksum(objectID: objectID)
    let stride = HotChunk.checksumSize + part.count
    let isUniform =
      unsafe chunk.presence == 0
      || (chunk.stride == stride && chunk.layoutNumber == layoutNumber)
    guard isUniform, part.count > 0, stride <= Int(UInt16.max) else {
      let copy = Part(checksum: checksum, layoutNumber: layoutNumber, bytes: unsafe Array(part))
      return try replace(slot, with: copy)
    }
    let start = unsafe HotChunk.headerSize + chunk.rank(of: slot) * stride
    if unsafe !chunk.hasPart(at: slot) {
      let presence = unsafe chunk.presence
      writer.insertZeros(stride, at: start)
      writer.patch(presence | 1 << UInt32(slot), at: 4)
      writer.patch(layoutNumber, at: 8)
      writer.patch(UInt16(stride), at: 10)
    }
    writer.patch(checksum, at: start)
    unsafe writer.overwrite(part, at: start + HotChunk.checksumSize)
  }

  /// Removes the part of the object at that place, if there is one.
  func remove(_ slot: Int) throws(RecordError) {
    guard unsafe view.hasPart(at: slot) else { return }
    isChanged = true
    try replace(slot, with: nil)
  }

  private struct Part {
    var checksum: UInt32
    var layoutNumber: UInt16
    var bytes: [UInt8]
  }

  /// Builds the chunk anew.
  private func replace(_ slot: Int, with part: Part?) throws(RecordError) {
    var parts: [(slot: Int, part: Part)] = []
    for other in 0..<(1 << Int(HotChunk.shift)) {
      if other == slot {
        if let part { parts.append((slot, part)) }
      } else if let kept = unsafe try view.entry(at: other) {
        let copy = unsafe Part(
          checksum: kept.checksum,
          layoutNumber: kept.part.layoutNumber,
          bytes: Array(kept.part.bytes)
        )
        parts.append((other, copy))
      }
    }
    writer.removeAll()
    writer.write(0 as UInt32)
    writer.write(parts.reduce(0 as UInt32) { $0 | 1 << UInt32($1.slot) })
    let first = parts.first?.part
    let isUniform = parts.allSatisfy { _, part in
      part.layoutNumber == first?.layoutNumber && part.bytes.count == first?.bytes.count
    }
    let stride = HotChunk.checksumSize + (first?.bytes.count ?? 0)
    if isUniform, let first, first.bytes.count > 0, stride <= Int(UInt16.max) {
      writer.write(first.layoutNumber)
      writer.write(UInt16(stride))
      for (_, part) in parts {
        writer.write(part.checksum)
        writer.write(part.bytes)
      }
      return
    }
    writer.write(0 as UInt32)
    var end: UInt32 = 0
    for (_, part) in parts {
      end += UInt32(HotChunk.unevenPrefixSize + part.bytes.count)
      writer.write(end)
    }
    for (_, part) in parts {
      writer.write(part.checksum)
      writer.write(part.layoutNumber)
      writer.write(part.bytes)
    }
  }
}
