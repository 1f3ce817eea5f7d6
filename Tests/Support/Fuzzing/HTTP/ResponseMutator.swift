/// Mutates scripts: responses, fields, values, bodies and bytes.
struct ResponseMutator {
  private var random: RandomChoices

  init(seed: UInt64) {
    random = RandomChoices(seed: seed)
  }

  /// Returns an input similar to `input`, with parts of `other`.
  mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    var script = ResponseScript(input)
    let other = ResponseScript(other)
    for _ in 0...random.number(4) {
      switch random.number(10) {
      case 0: changeOptions(&script)
      case 1, 2: changeResponses(&script, with: other)
      default:
        guard !script.responses.isEmpty else {
          script.responses.append(response())
          continue
        }
        change(&script.responses[random.number(script.responses.count)], with: other)
      }
    }
    script.responses = Array(script.responses.prefix(ResponseScript.limit))
    return script.bytes
  }

  private mutating func changeOptions(_ script: inout ResponseScript) {
    var words = script.options.split(separator: " ").map(String.init)
    if !words.isEmpty, random.number(3) == 0 { words.remove(at: random.number(words.count)) }
    words.append(random.pick(HeadWords.options))
    script.options = words.suffix(5).joined(separator: " ")
  }

  private mutating func changeResponses(_ script: inout ResponseScript, with other: ResponseScript)
  {
    if random.number(3) > 0 {
      random.rearrange(&script.responses, with: other.responses)
    } else {
      script.responses.insert(response(), at: random.number(script.responses.count + 1))
    }
  }

  /// Returns a response that would be valid after others.
  private mutating func response() -> ResponseScript.Response {
    let size = random.number(40)
    let start = random.number(size + 1)
    var lines = [
      "HTTP/1.1 \(random.pick(["200 OK", "206 Partial Content", "416 No", "302 Found"]))"
    ]
    lines.append("Content-Length: \(size - start)")
    if random.number(3) > 0 {
      lines.append("Content-Range: bytes \(start)-\(max(start, size - 1))/\(size)")
    }
    if random.number(3) > 0 { lines.append("ETag: \"\(random.number(3))\"") }
    if random.number(4) == 0 { lines.append("Last-Modified: \(random.pick(HeadWords.dates))") }
    return ResponseScript.Response(
      head: lines.map { Array($0.utf8) },
      body: "\(size - start) \(1 + random.number(8)) \(random.pick(HeadWords.endings))"
    )
  }

  // MARK: One response

  private mutating func change(
    _ response: inout ResponseScript.Response,
    with other: ResponseScript
  ) {
    guard !response.head.isEmpty else {
      response.head = [Array("HTTP/1.1 200 OK".utf8)]
      return
    }
    let place = random.number(response.head.count)
    switch random.number(14) {
    case 0: response.head[0] = Array("HTTP/1.1 \(random.pick(HeadWords.statuses))".utf8)
    case 1, 2, 3: response.head.insert(field(), at: max(1, place))
    case 4 where response.head.count > 1: response.head.remove(at: max(1, place))
    case 5: response.head.append(response.head[place])
    case 6:
      if let line = other.responses.randomElement(using: &random)?.head.randomElement(
        using: &random
      ) {
        response.head[place] = line
      }
    case 7, 8, 9: changeNumber(&response.head[place])
    case 10: changeBytes(&response.head[place])
    case 11:
      var line = Array(response.body.utf8)
      changeNumber(&line)
      response.body = String(decoding: line, as: UTF8.self)
    default:
      response.body =
        "\(random.number(45)) \(1 + random.number(12)) \(random.pick(HeadWords.endings))"
    }
  }

  private mutating func field() -> [UInt8] {
    let name = random.pick(HeadWords.fields.keys.sorted())
    return Array("\(name): \(random.pick(HeadWords.fields[name] ?? [""]))".utf8)
  }

  /// Replaces a number by a neighbor, or by one at which arithmetic overflows.
  private mutating func changeNumber(_ line: inout [UInt8]) {
    var numbers: [Range<Int>] = []
    var start: Int?
    for (index, byte) in line.enumerated() {
      let isDigit = (0x30...0x39).contains(byte)
      if isDigit, start == nil { start = index }
      if !isDigit, let first = start {
        numbers.append(first..<index)
        start = nil
      }
    }
    if let first = start { numbers.append(first..<line.count) }
    guard let place = numbers.randomElement(using: &random) else { return changeBytes(&line) }
    let old = Int(String(decoding: line[place], as: UTF8.self)) ?? 0
    let near = "\(max(0, old.addingReportingOverflow(random.number(7) - 3).partialValue))"
    let new = random.number(3) == 0 ? random.pick(HeadWords.numbers) : near
    line.replaceSubrange(place, with: new.utf8)
  }

  private static let longestLine = 640

  private static let interesting: [UInt8] = [
    0, 0x09, 0x0D, 0x1F, 0x20, 0x22, 0x25, 0x27, 0x2A, 0x2C, 0x2D, 0x2E, 0x2F, 0x3A, 0x3B, 0x3D,
    0x3F, 0x5C, 0x7F, 0x80, 0xBF, 0xC0, 0xC2, 0xE2, 0xED, 0xF0, 0xFF,
  ]

  private mutating func changeBytes(_ bytes: inout [UInt8]) {
    random.changeBytes(&bytes, interesting: Self.interesting)
    // A line must not contain line breaks.
    bytes.removeAll { $0 == 0x0A }
    bytes = Array(bytes.prefix(Self.longestLine))
  }
}
