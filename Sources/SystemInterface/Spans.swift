// Conversions between spans and types whose interfaces take pointers.

extension [UInt8] {
  /// Appends a copy of the bytes.
  @inlinable
  package mutating func append(copying bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  /// Appends a copy of the bytes.
  package mutating func append(copying bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}

extension [UInt8] {
  /// Creates a copy of the bytes.
  @inlinable
  package init(copying bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }

  /// Creates a copy of the bytes.
  package init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }

  /// Calls `body` with the bytes.
  package func withRawSpan<R, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> R
  ) throws(Failure) -> R {
    try body(unsafe span.bytes)
  }
}

extension String {
  /// Decodes UTF-8, as `String(decoding:as:)`.
  package init(decodingUTF8 bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Calls `body` with the UTF-8 of the string.
  @inlinable
  package func withUTF8Span<R>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
    var text = self
    return try text.withUTF8 { try body(unsafe $0.span) }
  }

  /// Calls `body` with the UTF-8 of the string.
  @inlinable
  package func withRawSpan<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    var text = self
    return try text.withUTF8 { try body(unsafe UnsafeRawBufferPointer($0).bytes) }
  }

  /// Whether both strings have the same UTF-8.
  ///
  /// Much faster than `elementsEqual`, which calls the iterators for each byte.
  package func hasSameUTF8(as other: String) -> Bool {
    let isEqual = unsafe utf8.withContiguousStorageIfAvailable { one in
      unsafe other.utf8.withContiguousStorageIfAvailable { other in
        guard one.count == other.count else { return false }
        guard let first = one.baseAddress, let second = other.baseAddress else { return true }
        return unsafe memcmp(first, second, one.count) == 0
      }
    }
    return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
