/// Mutates files of CSV and JSON at random: words of their syntax, and bytes.
struct RowMutator {
  private var random: RandomChoices

  /// The maximum size of an input in bytes.
  ///
  /// Larger inputs would only be slower.
  private static let maximumSize = 1 << 12

  private static let words = [
    "\"", "\"\"", ",", "\n", "\r\n", "\r", "\u{FEFF}", "{", "}", "[", "]", ":", "\\", "\\\"",
    "{\"a\":1}", "\\u0041", "null", "true", "-1", "1e5", "18446744073709551615", "NaN",
    "-Infinity", "2026-01-31", "2026-01-31 08:00:00.5+01", "x'CAFE'", "\\xcafe", "yv4=", "é",
    "e\u{301}", "\"\"\u{301}", ",\u{301}", "\u{200D}",
    "[1,2]", "{\"k\":[]}", "00000000-0000-0000-0000-000000000001", "1.5", "",
  ]

  init(seed: UInt64) {
    random = RandomChoices(seed: seed)
  }

  /// Returns a mutation of `input`, which may contain parts of `other`.
  mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    var bytes = input.isEmpty ? [0] : input
    if random.number(6) == 0 { bytes[0] = UInt8(random.number(256)) }
    for _ in 0...random.number(4) { change(&bytes, with: other) }
    return Array(bytes.prefix(Self.maximumSize))
  }

  /// Changes a part after the first byte, which selects the format.
  private mutating func change(_ bytes: inout [UInt8], with other: [UInt8]) {
    let start = 1 + random.number(bytes.count - 1)
    guard start <= bytes.count else { return }
    let end = min(bytes.count, start + random.number(random.number(2) == 0 ? 4 : 64))
    switch random.number(5) {
    case 0: bytes.removeSubrange(start..<end)
    case 1: bytes.insert(contentsOf: bytes[start..<end], at: 1 + random.number(bytes.count - 1))
    case 2:
      let from = random.number(other.count)
      bytes.insert(contentsOf: other[from..<min(other.count, from + random.number(64))], at: start)
    case 3:
      guard start < bytes.count else { return }
      bytes[start] = UInt8(random.number(256))
    default:
      bytes.insert(contentsOf: Array(random.pick(Self.words).utf8), at: start)
    }
  }
}
