internal import DownloadStore
internal import DownloadSync
internal import EngineTestSupport
internal import FaultServer
internal import SystemInterface
internal import TestSupport

/// Mutates request targets and locations, and compares them with what a server receives.
public struct RequestTargetFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "request-target"

  /// The description of the fuzzer.
  public static let summary = "Requests mutated targets, directly and by redirect."

  /// Sessions reserve more address space than they use.
  public static let memoryLimit: Int? = 8 << 20

  private static let parts = [
    "/", "/", "?", "#", "%", "%2", "%2f", "%C9%CC", "%25", "%zz", "%00", ".", "..", "/./", "/../",
    "[", "]", "|", "^", "\"", "`", "{", "}", "\\", "<", ">", " ", "\t", "\u{E9}", "\u{6587}",
    "\u{1F600}", "e\u{301}", "\u{7F}", "\u{1}", "\u{85}", ":", "::", "@", "//", "//h", "http:",
    "http://", "https://", "://", ":65536", ":-1", ":0", "[::1]", "127.0.0.1", "localhost",
    "data:,",
    "a", "b=c&d", ";p", "+", "*", "~", "'", "\u{202E}", "xn--", "\u{FFFD}",
  ]

  private var random: SplitMix64
  private let downloads: TargetDownloads

  /// Creates a fuzzer with a seed.
  ///
  /// - Throws: A system error when the socket cannot be created.
  public init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    downloads = try TargetDownloads()
  }

  /// Inserts, removes and repeats parts of URLs.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    var text = Array(String(decoding: input, as: UTF8.self).unicodeScalars)
    for _ in 0...Int.random(in: 0...3, using: &random) {
      let place = Int.random(in: 0...text.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0 where place < text.count: text.remove(at: place)
      case 1:
        let other = Array(String(decoding: other, as: UTF8.self).unicodeScalars)
        text.insert(contentsOf: other.suffix(Int.random(in: 0...8, using: &random)), at: place)
      case 2: text.removeSubrange(place..<min(text.count, place + 5))
      default:
        let part = Self.parts.randomElement(using: &random) ?? "/"
        text.insert(contentsOf: part.unicodeScalars, at: place)
      }
    }
    var result = String.UnicodeScalarView()
    result.append(contentsOf: text.prefix(300))
    return Array(String(result).utf8)
  }

  /// Requests the input as the target of a URL, and as a `Location`.
  ///
  /// - The server receives the bytes of the input, of which only those are escaped that a URL must
  ///   not contain.
  /// - A location is requested as RFC 3986 resolves it, or the redirect fails.
  ///
  /// - Throws: `FuzzViolation`.
  public func check(_ input: [UInt8]) async throws -> String {
    try await downloads.run(String(decoding: input.prefix(2_000), as: UTF8.self))
  }
}

/// A server that logs its requests, and a transport.
private final class TargetDownloads {
  private let server: FaultServer
  // The server answers every request; a slow machine may pause for a minute.
  private let transport = TransportUnderTest.make(idleTimeout: .seconds(100))

  init() throws {
    server = try FaultServer()
    server.route("*", Resource(.text("x")))
  }

  deinit {
    server.stop()
  }

  private func outcome(_ url: String) async -> (outcome: TaskOutcome?, targets: [String]) {
    let first = server.requests.count
    let sink = RecordingSink()
    _ = transport.start(TaskRequest(url: url, recordID: "r"), sink: sink)
    let outcome = await sink.outcome()
    return (outcome, server.requests[first...].map(\.target))
  }

  func run(_ text: String) async throws -> String {
    let direct = "/" + text
    let (first, targets) = await outcome(server.url(direct))
    guard first == .completed, targets.count == 1, let target = targets.first else {
      throw FuzzViolation("the direct request ended with \(String(describing: first)): \(targets)")
    }
    if !Self.hasDotSegment(direct), !Self.isForm(target, of: direct) {
      throw FuzzViolation("the server received \(target.debugDescription)")
    }
    guard !text.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else { return "direct" }
    let base = server.url("/redirect/from")
    let wanted = try? RequestURL(base).resolving(text)
    // The fuzzer connects to no other server, and to its own only without TLS.
    if let wanted, wanted.origin != (try? RequestURL(base).origin) { return "elsewhere" }
    if TransportUnderTest.isURLSession, WireHead.endsURLSession([Array("Location: \(text)".utf8)]) {
      return "left out"
    }
    let reply = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: \(text)\r\n\r\n"
    server.route("/redirect/from", Resource { _ in RawReply(Array(reply.utf8), ending: .keep) })
    defer { server.route("/redirect/from", Resource(.text("x"))) }
    let (second, redirected) = await outcome(base)
    for target in redirected.dropFirst() where target != wanted?.target {
      throw FuzzViolation("the redirect led to \(target.debugDescription), not \(wanted as Any)")
    }
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && !text.contains("\u{FFFD}")
    let isBlank = text.utf8.allSatisfy { $0 == 0x20 }
    if isPlain, !isBlank, wanted != nil, redirected.count < 2 {
      throw FuzzViolation("the redirect was not followed: \(String(describing: second))")
    }
    return "\(second?.failureCode?.rawValue ?? "completed") \(min(redirected.count, 3))"
  }

  private static func hasDotSegment(_ text: String) -> Bool {
    withoutBlanksAtEnd(text).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
      .split(separator: UInt8(ascii: "/"))
      .contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
  }

  /// The bytes of a URL, to which blanks at the end do not belong.
  private static func withoutBlanksAtEnd(_ text: String) -> ArraySlice<UInt8> {
    var bytes = Array(text.utf8)[...]
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return bytes
  }

  /// Whether a target is a text without its fragment, in which some bytes are escaped.
  private static func isForm(_ target: String, of text: String) -> Bool {
    let allowed = Set(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?%".utf8
    )
    var given = withoutBlanksAtEnd(text).prefix { $0 != UInt8(ascii: "#") }
    var sent = Array(target.utf8)[...]
    while let byte = given.popFirst() {
      let digits = String(byte, radix: 16, uppercase: true)
      let escape = Array("%\(digits.utf8.count == 1 ? "0" : "")\(digits)".utf8)
      if allowed.contains(byte), sent.first == byte, byte != UInt8(ascii: "%") || !isLone(given) {
        sent.removeFirst()
      } else if !allowed.contains(byte) || byte == UInt8(ascii: "%"), sent.starts(with: escape) {
        sent = sent.dropFirst(3)
      } else {
        return false
      }
    }
    return sent.isEmpty
  }

  /// Whether a percent sign before the bytes is not an escape.
  private static func isLone(_ rest: ArraySlice<UInt8>) -> Bool {
    let digits = "0123456789abcdefABCDEF".utf8
    return rest.count < 2 || !rest.prefix(2).allSatisfy { digits.contains($0) }
  }
}
