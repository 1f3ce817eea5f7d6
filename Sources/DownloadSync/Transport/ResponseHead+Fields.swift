internal import DownloadStore
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
  ///
  /// Fields that are sent twice, or joined to a list, count if they agree (RFC 9112, 6.3).
  var contentLength: Int64? {
    let values = lengths
    guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
    return Self.number(first)
  }

  /// Whether the body has a length that cannot be read, or several: then its end is not known either
  /// (RFC 9112, 6.3).
  var hasInvalidLength: Bool {
    !lengths.isEmpty && contentLength == nil && self["Transfer-Encoding"] == nil
  }

  /// The members of the `Content-Length` fields.
  private var lengths: [Substring] {
    let members = fields.filter { $0.name.lowercased() == "content-length" }
      .flatMap { $0.value.split(separator: ",", omittingEmptySubsequences: false) }
    return members.count < 2 ? members : members.map { $0.drop { $0 == " " || $0 == "\t" } }
  }

  /// The coding of the body, which we did not ask for and which a byte offset means nothing in; `nil`
  /// when the body is the entity itself.
  ///
  /// A list of codings may be spread over several fields (RFC 9110, 5.3).
  var foreignCoding: String? {
    let values = fields.filter { $0.name.lowercased() == "content-encoding" }.map(\.value)
    let codings = values.joined(separator: ",").split(separator: ",")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    let isForeign = codings.contains { !$0.isEmpty && $0.lowercased() != "identity" }
    return isForeign ? values.joined(separator: ", ") : nil
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
