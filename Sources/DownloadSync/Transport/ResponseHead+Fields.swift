internal import Foundation

extension ResponseHead {
  /// The parts of a `Content-Range` field (RFC 9110, 14.4).
  struct ContentRange: Sendable, Hashable {
    /// The bytes of the body; `nil` in a 416.
    var range: ClosedRange<Int64>?
    /// The size of the whole; `nil` when the server does not say.
    var total: Int64?
  }

  /// The `Content-Range`; `nil` when there is none, or none that can be read.
  var contentRange: ContentRange? {
    guard let field = self["Content-Range"] else { return nil }
    let words = field.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    var result = ContentRange()
    if parts[1] != "*" {
      guard let total = Self.number(parts[1]) else { return nil }
      result.total = total
    }
    if parts[0] != "*" {
      let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
        first <= last, last < (result.total ?? .max)
      else { return nil }
      result.range = first...last
    }
    return result
  }

  /// The `Content-Length` in bytes.
  var contentLength: Int64? {
    self["Content-Length"].flatMap { Self.number($0[...]) }
  }

  /// Whether the body is in a coding that we did not ask for, which a byte offset means nothing in.
  var hasForeignCoding: Bool {
    guard let coding = self["Content-Encoding"]?.lowercased() else { return false }
    return !coding.isEmpty && coding != "identity"
  }

  /// How long the server asks to wait (RFC 9110, 10.2.3): seconds, or a date after `now`.
  func retryAfter(now: Date) -> Duration? {
    guard let field = self["Retry-After"]?.trimmingCharacters(in: .whitespaces) else { return nil }
    let year: Int64 = 86_400 * 365
    if Self.isDigits(field[...]) { return .seconds(min(Int64(field) ?? year, year)) }
    guard let date = HTTPDate.moment(field, now: now) else { return nil }
    return .seconds(max(0, min(date.timeIntervalSince(now), Double(year))))
  }

  /// Digits alone, as HTTP has them: no sign, no blanks, no overflow.
  private static func number(_ text: Substring) -> Int64? {
    isDigits(text) ? Int64(text) : nil
  }

  private static func isDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
