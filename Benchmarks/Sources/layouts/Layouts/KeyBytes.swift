extension String {
  /// Lends the UTF-8 bytes to `body`.
  func withBytes<R>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
    var text = self
    return try text.withUTF8 { unsafe try body($0.span) }
  }

  /// A 64-bit hash of the UTF-8 bytes, eight at a time.
  ///
  /// The layouts need one that is fast and spreads well, not a particular one.
  var keyHash: UInt64 {
    withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        var hash = UInt64(bytes.count) ^ 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset + 8 <= bytes.count {
          hash = mix(hash, unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
          offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
          rest = unsafe rest << 8 | UInt64(bytes[offset])
          offset += 1
        }
        return mix(hash, rest)
      }
    }
  }
}

private func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
  let product = (hash ^ word ^ 0xA076_1D64_78BD_642F)
    .multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
  return product.high ^ product.low
}

/// Lends the bytes of an integer key to `body`.
func withKey<R>(_ number: UInt64, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
  try unsafe withUnsafeBytes(of: number) { bytes in
    try unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe try body($0.span) }
  }
}

extension Span<UInt8> {
  /// The integer that these bytes are.
  var number: UInt64 {
    unsafe withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self) }
  }
}

extension [UInt8] {
  /// Appends lent bytes.
  mutating func append(_ span: Span<UInt8>) {
    unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// Takes lent bytes in place of what it has.
  mutating func replace(with span: Span<UInt8>) {
    removeAll(keepingCapacity: true)
    append(span)
  }
}
