internal import ObjectStore

/// Mutates files of JSON lines at random: lines, values inside them, and bytes.
struct JSONLinesMutator {
  private var random: RandomChoices
  private let export: [UInt8]

  /// The maximum size of an input in bytes.
  ///
  /// Larger inputs would only be slower.
  private static let maximumSize = 1 << 14

  /// Creates a mutator whose mutations are determined by a seed.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - samples: A store whose export is mutated in place of an empty input.
  /// - Throws: ``StoreError``.
  init(seed: UInt64, samples: Store) throws {
    random = RandomChoices(seed: seed)
    var bytes: [UInt8] = [0]
    try samples.exportJSONLines { bytes.append(contentsOf: $0) }
    export = bytes
  }

  /// Returns a mutation of `input`, which may contain parts of `other`.
  mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    let input = input.count < 2 ? export : input
    var choice = input.first ?? 0
    if random.number(4) == 0 { choice ^= 1 << UInt8(random.number(8)) }
    var lines = split(input)
    let others = split(other)
    for _ in 0...random.number(3) {
      if random.number(3) == 0 {
        changeLines(&lines, with: others)
      } else if !lines.isEmpty {
        let index = random.number(lines.count)
        if random.number(3) == 0 {
          random.changeBytes(&lines[index], interesting: Self.interesting)
        } else {
          changeValue(&lines[index], with: others)
        }
      }
    }
    let bytes = [choice] + lines.joined(separator: [0x0A])
    return bytes.count > Self.maximumSize ? Array(bytes[..<Self.maximumSize]) : bytes
  }

  private func split(_ input: [UInt8]) -> [[UInt8]] {
    input.dropFirst().split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) }
  }

  // MARK: Lines

  private mutating func changeLines(_ lines: inout [[UInt8]], with others: [[UInt8]]) {
    guard !lines.isEmpty else {
      lines = others
      return
    }
    let index = random.number(lines.count)
    switch random.number(6) {
    case 0: if let line = others.randomElement(using: &random) { lines[index] = line }
    case 1: lines.insert([], at: index)
    default: random.rearrange(&lines, with: others)
    }
  }

  // MARK: Values

  private static let values = [
    "null", "true", "false", "0", "-0", "1", "-1", "255", "256", "65536", "2147483648",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
    "18446744073709551616", "1e400", "-1e-400", "1.5", "0.1", "123456789012345678901234567890",
    "\"\"", "\"NaN\"", "\"-Infinity\"", "\"Infinity\"", "\"\\u0000\"", "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"", "\"AAAA\"", "\"AA==\"", "\"not base64\"",
    "\"00000000-0000-0000-0000-000000000000\"", "\"-9223372036854775808\"", "\"1e400\"", "[]",
    "{}", "[[]]", "[null]", "{\"\":null}", "[1,1]", "[[1,2],[1,3]]", "\"\\r\\n\"",
    "[\"\\u00e9\",\"e\\u0301\"]",
    "\"2024-02-30T25:00:00Z\"",
  ]

  private static let words = [
    "\"model\"", "\"object\"", "\"fields\"", "\"Sample\"", "\"Other\"", "\"id\"", "\"name\"",
    "\"type\"", "\"int64\"", "\"string\"", "\"[string]\"", "\"[[[[[int8]]]]]\"",
    "\"set<string>\"", "\"[string:int64]\"", "\"decimal\"", "\"embedded(Point)\"", "\"data\"",
    "\"optional\"", "\"primaryKey\"", "\"indexed\"", "\"unique\"", "\"hot\"", "\"indexes\"",
    "\"references\"", "\"delete\"", "\"store/history\"", "\"a/b\"", "\"\\u0301a\"", "\"a\\u0600\"",
    "\"\\u00e9\"", "\"e\\u0301\"", "\"id@1\"",
  ]

  /// Replaces, copies or nests a value or a name.
  private mutating func changeValue(_ line: inout [UInt8], with others: [[UInt8]]) {
    guard let token = token(of: line) else {
      return random.changeBytes(&line, interesting: Self.interesting)
    }
    switch random.number(8) {
    case 0: line.replaceSubrange(token, with: random.pick(Self.words).utf8)
    case 1:
      guard let other = others.randomElement(using: &random), let part = self.token(of: other)
      else { return }
      line.replaceSubrange(token, with: other[part])
    case 2:
      let part = line[token]
      line.insert(contentsOf: [0x2C] + part, at: token.upperBound)
    case 3:
      let depth = random.number(300)
      let part = Array(line[token])
      let nested =
        Array(repeating: 0x5B, count: depth) + part + Array(repeating: 0x5D, count: depth)
      line.replaceSubrange(token, with: nested)
    default: line.replaceSubrange(token, with: random.pick(Self.values).utf8)
    }
  }

  /// Returns the range of a string, a number or a literal in the line.
  private mutating func token(of line: [UInt8]) -> Range<Int>? {
    let delimiters = Set<UInt8>("{}[]:,".utf8)
    var tokens: [Range<Int>] = []
    var start = 0
    var isInString = false
    for (index, byte) in line.enumerated() {
      if byte == 0x22, index == 0 || line[index - 1] != 0x5C { isInString.toggle() }
      guard !isInString, delimiters.contains(byte) else { continue }
      if start < index { tokens.append(start..<index) }
      start = index + 1
    }
    return tokens.randomElement(using: &random)
  }

  // MARK: Bytes

  private static let interesting: [UInt8] = [
    0, 0x09, 0x0D, 0x1F, 0x20, 0x22, 0x2B, 0x2C, 0x2D, 0x2E, 0x30, 0x39, 0x3A, 0x45, 0x5B, 0x5C,
    0x5D, 0x65, 0x75, 0x7B, 0x7D, 0x7F, 0x80, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xFF,
  ]
}
