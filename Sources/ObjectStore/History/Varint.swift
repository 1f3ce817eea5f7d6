// Numbers of seven bits a byte, the lowest first; the highest bit says that another byte follows.

extension ByteWriter {
  mutating func writeVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      write(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    write(UInt8(truncatingIfNeeded: rest))
  }
}

extension ByteReader {
  /// - Throws: ``RecordError`` with `truncated`, or `invalidValue` when it does not fit 64 bits.
  mutating func readVarint() throws(RecordError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      let byte = try read(UInt8.self)
      guard shift < 63 || byte <= 1 else { break }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw RecordError(.invalidValue)
  }
}
