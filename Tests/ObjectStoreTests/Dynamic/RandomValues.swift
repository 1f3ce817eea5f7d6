import Foundation
import SystemInterface

@testable import ObjectStoreCore

/// A generator of random types and of values of those types.
///
/// Half of the numbers are boundary values.
struct RandomValues {
  private var generator: any RandomNumberGenerator

  init(_ generator: some RandomNumberGenerator) {
    self.generator = generator
  }

  static let scalars: [FieldType] =
    [.bool, .float, .double, .date, .decimal, .uuid, .string, .data, .embedded("Point")]
    + [8, 16, 32, 64].flatMap { [.signed(bits: $0), .unsigned(bits: $0)] }

  private mutating func number(_ range: Range<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  mutating func type(depth: Int = 3) -> FieldType {
    let scalar = Self.scalars[number(0..<Self.scalars.count)]
    guard depth > 0 else { return scalar }
    switch number(0..<6) {
    case 0: return .array(type(depth: depth - 1))
    case 1: return .set(type(depth: depth - 1))
    case 2:
      let keys: [FieldType] = [.string, .signed(bits: 16), .uuid, .double]
      return .dictionary(keys[number(0..<keys.count)], type(depth: depth - 1))
    default: return scalar
    }
  }

  /// Returns a value in stored form: sets and dictionaries are ordered by their bytes.
  mutating func value(of type: FieldType) throws -> StoredValue {
    let bytes = try rawValue(of: type).bytes(as: type) ?? []
    return try bytes.withRawSpan { try StoredValue($0, type: type) }
  }

  private mutating func bits() -> UInt64 {
    let boundaries: [UInt64] = [
      0, 1, .max, 1 << 63, 1 << 31, 1 << 53, 1 << 53 + 1, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48,
      0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, 0x7FF0_0000_0000_0001,
    ]
    return number(0..<2) == 0 ? boundaries[number(0..<boundaries.count)] : generator.next()
  }

  private mutating func rawValue(of type: FieldType) -> StoredValue {
    switch type {
    case .bool: return .bool(number(0..<2) == 0)
    case .signed(let bits): return .signed(Int64(bitPattern: self.bits()) >> Int64(64 - bits))
    case .unsigned(let bits): return .unsigned(self.bits() >> UInt64(64 - bits))
    case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: bits())))
    case .double: return .double(Double(bitPattern: bits()))
    case .date:
      return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits())))
    case .decimal:
      guard number(0..<8) > 0 else { return .decimal(.nan) }
      let significand = Decimal(bits()) * (number(0..<2) == 0 ? 1 : Decimal(UInt64.max))
      let sign: FloatingPointSign = number(0..<2) == 0 ? .minus : .plus
      return .decimal(
        Decimal(sign: sign, exponent: number(-100..<100), significand: significand)
      )
    case .uuid: return .uuid(UUID())
    case .string: return .string(text())
    case .data: return .data(data())
    case .embedded: return .embedded(data())
    case .array(let element): return .array((0..<number(0..<4)).map { _ in rawValue(of: element) })
    case .set(let element):
      var values: [[UInt8]: StoredValue] = [:]
      for _ in 0..<number(0..<4) {
        let value = rawValue(of: element)
        values[(try? value.bytes(as: element)) ?? []] = value
      }
      return .set(Array(values.values))
    case .dictionary(let key, let value):
      var entries: [[UInt8]: StoredValue.Entry] = [:]
      for _ in 0..<number(0..<4) {
        let entry = StoredValue.Entry(key: rawValue(of: key), value: rawValue(of: value))
        entries[(try? entry.key.bytes(as: key)) ?? []] = entry
      }
      return .dictionary(Array(entries.values))
    }
  }

  private mutating func data() -> Data {
    Data((0..<number(0..<6)).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
  }

  private mutating func text() -> String {
    let pieces = [
      "", "a", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}", "\u{E9}", "e\u{301}",
      "\u{1F600}", "\u{2028}", "\u{FFFF}", "\u{10FFFF}",
    ]
    return (0..<number(0..<5)).map { _ in pieces[number(0..<pieces.count)] }.joined()
  }
}
