#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Decimal: FieldValue {
  /// The type of the encoded value.
  public static var fieldType: FieldType { .decimal }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  public init(from reader: inout ByteReader) throws(RecordError) {
    let digits = try DecimalDigits(from: &reader)
    guard let value = Decimal(digits) else { throw RecordError(.invalidValue) }
    self = value
  }

  /// Appends the encoded value; equal numbers have equal bytes, whatever their exponents.
  public func encode(to writer: inout ByteWriter) {
    DecimalDigits(self).encode(to: &writer)
  }
}

extension Decimal: KeyOrdered {}

/// The stored form of a decimal number: ±0.d₁d₂…d₃₉ × 10^exponent, with d₁ not 0.
///
/// | bytes | meaning |
/// |---|---|
/// | `u16`, big-endian | 32,768 + 512 + exponent; 32,768 for zero |
/// | `u64`, big-endian | the first 19 digits |
/// | `u64`, big-endian | the next 19 digits |
/// | `u8` | the last digit |
///
/// All bits of a negative number are inverted; NaN is all zeros. The bytes therefore sort like
/// `Decimal`, whose NaN equals itself and is less than every number.
struct DecimalDigits: Hashable {
  enum Sign: Hashable {
    case negative, zero, positive, notANumber
  }

  /// 10¹⁹, the greatest power of ten that fits in 64 bits.
  private static let chunk: UInt64 = 10_000_000_000_000_000_000
  private static let zeroHead: UInt16 = 0x8000
  private static let bias = 512

  /// The stored form of NaN.
  static let bytesOfNaN = [UInt8](repeating: 0, count: 19)
  /// The next bytes; the stored forms of all numbers are greater.
  static let bytesAfterNaN = [UInt8](repeating: 0, count: 18) + [1]

  var sign: Sign
  var exponent = 0
  var high: UInt64 = 0
  var low: UInt64 = 0
  var last: UInt8 = 0

  /// Creates the stored form of ±`mantissa` × 10^`exponent`.
  init(isNegative: Bool, mantissa: UInt128, exponent: Int) {
    guard mantissa != 0 else {
      sign = .zero
      return
    }
    sign = isNegative ? .negative : .positive
    let count = Self.count(of: mantissa)
    self.exponent = exponent + count
    if count <= 19 {
      high = UInt64(mantissa) * Self.power(19 - count)
      return
    }
    // A `UInt128` has at most 39 digits, so at most 20 follow the first 19.
    let following = count - 19
    let divisor = following > 19 ? UInt128(Self.chunk) * 10 : UInt128(Self.power(following))
    let (front, rest) = mantissa.quotientAndRemainder(dividingBy: divisor)
    high = UInt64(front)
    let scaled = following > 19 ? rest : rest * UInt128(Self.power(19 - following)) * 10
    let (middle, end) = scaled.quotientAndRemainder(dividingBy: 10)
    low = UInt64(middle)
    last = UInt8(end)
  }

  /// The mantissa without trailing zeros and its exponent; `nil` if it exceeds 128 bits.
  var mantissa: (mantissa: UInt128, exponent: Int)? {
    guard sign == .positive || sign == .negative else { return (0, 0) }
    var value: UInt128
    var count: Int
    if low == 0, last == 0 {
      (value, count) = (UInt128(high), 19)
    } else if last == 0 {
      (value, count) = (UInt128(high) * UInt128(Self.chunk) + UInt128(low), 38)
    } else {
      let (front, overflow) = (UInt128(high) * UInt128(Self.chunk) + UInt128(low))
        .multipliedReportingOverflow(by: 10)
      let (whole, carry) = front.addingReportingOverflow(UInt128(last))
      guard !overflow, !carry else { return nil }
      (value, count) = (whole, 39)
    }
    while true {
      let (quotient, remainder) = value.quotientAndRemainder(dividingBy: 10)
      guard remainder == 0 else { break }
      value = quotient
      count -= 1
    }
    return (value, exponent - count)
  }

  private static func count(of mantissa: UInt128) -> Int {
    var rest = mantissa
    var count = 0
    if rest >= UInt128(chunk) {
      rest /= UInt128(chunk)
      count = 19
    }
    if rest >= UInt128(chunk) {
      rest /= UInt128(chunk)
      count += 19
    }
    var word = UInt64(rest)
    while word > 0 {
      word /= 10
      count += 1
    }
    return count
  }

  private static func power(_ exponent: Int) -> UInt64 {
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }

  // MARK: Bytes

  init(from reader: inout ByteReader) throws(RecordError) {
    var head = UInt16(bigEndian: try reader.read())
    high = UInt64(bigEndian: try reader.read())
    low = UInt64(bigEndian: try reader.read())
    last = try reader.read()
    switch head {
    case 0: sign = .notANumber
    case Self.zeroHead: sign = .zero
    case let other:
      sign = other > Self.zeroHead ? .positive : .negative
      if sign == .negative { (head, high, low, last) = (~head, ~high, ~low, ~last) }
      exponent = Int(head) - Int(Self.zeroHead) - Self.bias
    }
    // Only the canonical encoding is accepted, so that equal numbers have equal bytes.
    let hasDigits = sign == .positive || sign == .negative
    let isCanonical =
      hasDigits
      ? (Self.chunk / 10..<Self.chunk).contains(high) && low < Self.chunk && last < 10
      : high == 0 && low == 0 && last == 0
    guard isCanonical else { throw RecordError(.invalidValue) }
  }

  func encode(to writer: inout ByteWriter) {
    let flips = sign == .negative
    var head: UInt16 =
      switch sign {
      case .notANumber: 0
      case .zero: Self.zeroHead
      case .positive, .negative: UInt16(Int(Self.zeroHead) + Self.bias + exponent)
      }
    if flips { head = ~head }
    writer.write(head.byteSwapped)
    writer.write((flips ? ~high : high).byteSwapped)
    writer.write((flips ? ~low : low).byteSwapped)
    writer.write(flips ? ~last : last)
  }
}

extension DecimalDigits {
  init(_ value: Decimal) {
    guard !value.isNaN else {
      self.init(isNegative: false, mantissa: 0, exponent: 0)
      sign = .notANumber
      return
    }
    // Not every platform has a public accessor for the mantissa. It is the last 16 of the 20 bytes,
    // both in the C layout of NSDecimal on Apple platforms and in swift-foundation.
    let mantissa = unsafe withUnsafeBytes(of: value) { bytes in
      unsafe UInt128(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt128.self))
    }
    self.init(isNegative: value.sign == .minus, mantissa: mantissa, exponent: value.exponent)
  }
}

extension Decimal {
  /// Converts from the stored form; the result is `nil` if a `Decimal` cannot hold the number.
  fileprivate init?(_ digits: DecimalDigits) {
    switch digits.sign {
    case .notANumber: self = .nan
    case .zero: self = 0
    case .positive, .negative:
      guard let (mantissa, exponent) = digits.mantissa, exponent >= -128 else { return nil }
      guard exponent <= 127 else {
        // The exponent exceeds the maximum, so the mantissa must have trailing zeros. Parsing a
        // string keeps them, whereas arithmetic would remove them.
        let zeros = String(repeating: "0", count: exponent - 127)
        let sign = digits.sign == .negative ? "-" : ""
        let value = Decimal(string: "\(sign)\(mantissa)\(zeros)e127")
        guard let value, !value.isNaN else { return nil }
        self = value
        return
      }
      // The sum of the two halves is exact, because the mantissa fits in 128 bits.
      var significand = Decimal(UInt64(truncatingIfNeeded: mantissa))
      let high = UInt64(mantissa >> 64)
      if high > 0 { significand += Decimal(high) * (Decimal(UInt64.max) + 1) }
      self.init(
        sign: digits.sign == .negative ? .minus : .plus,
        exponent: exponent,
        significand: significand
      )
    }
  }
}
