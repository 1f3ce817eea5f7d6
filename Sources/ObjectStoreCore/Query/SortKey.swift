internal import SystemInterface

/// A value by which ``ObjectReader/sorted(_:_:by:)`` sorts objects: a number or a string.
///
/// Numbers sort by their values, and NaN after all numbers; strings sort by their UTF-8 bytes, as in
/// an index. The keys of one call must be of the same kind.
public struct SortKey: Sendable, Hashable {
  enum Content: Sendable, Hashable {
    /// A number that sorts as the value does.
    case word(UInt64)
    case text(String)
  }

  private static let sign: UInt64 = 1 << 63

  let content: Content

  /// Creates the key of a signed integer.
  public init(_ value: some FixedWidthInteger & SignedInteger) {
    content = .word(UInt64(bitPattern: Int64(value)) ^ Self.sign)
  }

  /// Creates the key of a floating-point number.
  public init(_ value: Double) {
    guard !value.isNaN else {
      content = .word(.max)
      return
    }
    // Adding zero makes the key of -0.0 that of 0.0.
    let bits = (value + 0).bitPattern
    content = .word(bits & Self.sign == 0 ? bits | Self.sign : ~bits)
  }

  /// Creates the key of a string.
  public init(_ value: String) {
    content = .text(value)
  }
}

extension SortKey {
  /// Appends bytes that compare as the keys do, and are no prefix of those of another key.
  func append(to bytes: inout ByteWriter) {
    switch content {
    case .word(let word): bytes.write(word.bigEndian)
    case .text(let text):
      text.withUTF8Span { KeyEncoding.append($0, .text, maximumContentSize: .max, to: &bytes) }
    }
  }

  /// Replaces `bytes` with the key of an object, which compares as the objects sort.
  ///
  /// Objects without a value come last in both directions, and equal ones in insertion order.
  static func write(
    _ key: SortKey?,
    _ id: UInt64,
    _ direction: SortDirection,
    to bytes: inout ByteWriter
  ) {
    bytes.removeAll()
    bytes.write((key == nil ? 1 : 0) as UInt8)
    key?.append(to: &bytes)
    if direction == .descending { bytes.invert(from: 1) }
    bytes.write(id.bigEndian)
  }
}
