import ResumeData

/// A generator of random property lists.
///
/// Half of the numbers are boundary values.
struct RandomPropertyList {
  /// The kinds of values that a format supports.
  struct Kinds {
    var hasReferences = false
    /// Sets and null, which XML does not support.
    var hasBinaryKinds = false
  }

  private var generator: any RandomNumberGenerator
  private let kinds: Kinds

  init(_ generator: some RandomNumberGenerator, _ kinds: Kinds = Kinds()) {
    self.generator = generator
    self.kinds = kinds
  }

  private mutating func number(_ range: Range<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  mutating func value(depth: Int = 4) -> PropertyList {
    let scalar = scalar()
    guard depth > 0 else { return scalar }
    switch number(0..<8) {
    case 0, 1: return .array((0..<number(0..<6)).map { _ in value(depth: depth - 1) })
    case 2, 3:
      var members = PropertyListDictionary()
      for _ in 0..<number(0..<6) { members[text()] = value(depth: depth - 1) }
      return .dictionary(members)
    case 4 where kinds.hasBinaryKinds:
      return .set((0..<number(0..<4)).map { _ in value(depth: depth - 1) })
    default: return scalar
    }
  }

  private mutating func scalar() -> PropertyList {
    switch number(0..<9) {
    case 0: return .bool(number(0..<2) == 0)
    case 1, 2: return .integer(integer())
    case 3: return .real(real())
    case 4: return .date(Double(number(-60_000_000_000..<200_000_000_000)))
    case 5: return .data((0..<number(0..<80)).map { _ in UInt8(number(0..<256)) })
    case 6 where kinds.hasReferences: return .uid(UInt32(truncatingIfNeeded: generator.next()))
    case 7 where kinds.hasBinaryKinds: return .null
    default: return .string(text())
    }
  }

  private mutating func integer() -> Int128 {
    let boundaries: [Int128] = [
      0, 1, -1, 127, 128, 255, 256, 65_535, 65_536, 1 << 31, 1 << 32, Int128(Int64.max),
      Int128(Int64.min), -128, -129,
    ]
    return number(0..<2) == 0
      ? boundaries[number(0..<boundaries.count)] : Int128(Int64(bitPattern: generator.next()))
  }

  private mutating func real() -> Double {
    let boundaries: [Double] = [
      0.5, -0.25, 0.1, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
      1e21,
    ]
    if number(0..<2) == 0 { return boundaries[number(0..<boundaries.count)] }
    let value = Double(bitPattern: generator.next())
    return value.isNaN ? 0.75 : value
  }

  private mutating func text() -> String {
    let alphabet = Array("abcXYZ 0129$_-/<>&\"'\n\t.üñ€漢字😀Ж")
    return String((0..<number(0..<24)).map { _ in alphabet[number(0..<alphabet.count)] })
  }
}
