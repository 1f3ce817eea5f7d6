extension RecordEncoder {
  /// Replaces a field of a record that has been encoded but not finished; `nil` stores no value.
  ///
  /// - Precondition: For a fixed-width type, `bytes` has exactly that width.
  mutating func replaceField(at position: Int, with bytes: [UInt8]?) {
    let place = binding.place(at: position)
    let ends = binding.fields.indices.map { binding.place(at: $0) }.filter { other in
      other.isHot == place.isHot && !other.isFixed && other.offset >= place.offset
    }
    .map(\.offset)
    if place.isHot {
      hot.replaceField(at: place, endsFromIt: ends, with: bytes)
    } else {
      cold.replaceField(at: place, endsFromIt: ends, with: bytes)
    }
  }
}

extension ByteWriter {
  /// Replaces a field; `ends` are the offsets of the end offsets of this field and those after it.
  fileprivate mutating func replaceField(
    at place: FieldPlace,
    endsFromIt ends: [Int],
    with bytes: [UInt8]?
  ) {
    var part = self.bytes
    if bytes == nil {
      part[place.presenceOffset] &= ~place.presenceMask
    } else {
      part[place.presenceOffset] |= place.presenceMask
    }
    if place.isFixed {
      let value = bytes ?? [UInt8](repeating: 0, count: place.width)
      precondition(value.count == place.width, "a value does not have the width of its type")
      part.replaceSubrange(place.offset..<place.offset + place.width, with: value)
    } else {
      let start = place.isFirst ? 0 : Self.end(in: part, at: place.offset - 4)
      let old = Self.end(in: part, at: place.offset) - start
      let new = bytes ?? []
      let heap = place.heapStart + start
      part.replaceSubrange(heap..<heap + old, with: new)
      for offset in ends {
        let end = UInt32(Self.end(in: part, at: offset) - old + new.count)
        for byte in 0..<4 { part[offset + byte] = UInt8(truncatingIfNeeded: end >> (8 * byte)) }
      }
    }
    removeAll()
    write(part)
  }

  private static func end(in part: [UInt8], at offset: Int) -> Int {
    Int(part[offset..<offset + 4].reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) })
  }
}
