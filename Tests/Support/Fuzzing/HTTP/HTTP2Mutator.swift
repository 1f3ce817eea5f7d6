internal import EngineTestSupport

/// Mutates scripts of HTTP/2 frames: frames, their numbers, fields and bytes.
struct HTTP2Mutator {
  private static let statuses = [
    "200", "206", "204", "304", "404", "302", "100", "101", "103", "199", "099", "000", "1000",
    "99",
    "-1", "-200", "+200", "-9223372036854775808", "9223372036854775807", "9223372036854775808",
    "18446744073709551615", "", "%20", "200%20", "2 0", "abc", "2%00", "%e9%e9%e9", "\u{0662}00",
    "0x1",
  ]

  private static let fields = [
    ":status=200", ":path=/", ":scheme=https", ":=x", "=x", "content-length=5", "content-length=-1",
    "content-length=9223372036854775808", "content-length=4", "transfer-encoding=chunked",
    "connection=close", "Upper=x", "location=/x", "location=https://127.0.0.1:65536/",
    "set-cookie=a=b", "content-encoding=gzip", "x=%00", "x=%0d%0ay:z", "te=trailers", "x=",
    "content-range=bytes%200-4/5", "trailer=x", "host=x",
  ]

  private static let types = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "12", "255"]
  private static let streams = ["s", "s", "s", "0", "1", "2", "3", "5", "2147483647", "4294967295"]
  private static let flags = ["0", "1", "4", "5", "8", "9", "13", "32", "36", "37", "255"]

  private var random: RandomChoices

  init(seed: UInt64) {
    random = RandomChoices(seed: seed)
  }

  /// Returns an input similar to `input`, with lines of `other`.
  mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    var script = HTTP2Script(input)
    let other = HTTP2Script(other)
    for _ in 0...random.number(3) {
      let count = script.lines.count
      switch random.number(12) {
      case 0...3: random.rearrange(&script.lines, with: other.lines)
      case 4: script.lines.insert(line(), at: random.number(count + 1))
      case 5: script.lines.append(["keep"])
      default:
        guard count > 0 else { continue }
        change(&script.lines[random.number(count)])
      }
    }
    script.lines = Array(script.lines.prefix(24))
    return script.bytes
  }

  private mutating func line() -> [String] {
    switch random.number(4) {
    case 0:
      [
        "headers", random.pick(Self.flags), "s", ":status=\(random.pick(Self.statuses))",
        random.pick(Self.fields),
      ]
    case 1: ["data", random.pick(Self.flags), random.pick(Self.streams), "hello"]
    default:
      [
        "frame", random.pick(Self.types), random.pick(Self.flags), random.pick(Self.streams),
        bytes(),
      ]
    }
  }

  private mutating func bytes() -> String {
    (0..<random.number(20)).map { _ in
      let byte = random.number(256)
      return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    .joined()
  }

  private mutating func change(_ line: inout [String]) {
    guard line.count > 2 else { return }
    switch random.number(8) {
    case 0: line[1] = random.pick(line[0] == "frame" ? Self.types : Self.flags)
    case 1: line[2] = random.pick(line[0] == "frame" ? Self.flags : Self.streams)
    case 2 where line.count > 3: line.remove(at: 3 + random.number(line.count - 3))
    case 3: line.append(line[0] == "headers" ? random.pick(Self.fields) : bytes())
    case 4 where line[0] == "headers":
      line.append("x=" + String(repeating: "y", count: 1 << random.number(16)))
    default:
      guard line[0] == "headers" else { return line.append(bytes()) }
      let status = ":status=\(random.pick(Self.statuses))"
      if let index = line.firstIndex(where: { $0.hasPrefix(":status") }) {
        line[index] = status
      } else {
        line.insert(status, at: min(3, line.count))
      }
    }
    line = Array(line.prefix(40))
  }
}
