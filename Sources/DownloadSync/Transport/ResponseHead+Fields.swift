internal import DownloadStore
internal import Foundation

extension ResponseHead {
  /// The parsed value of `Content-Range` (RFC 9110, 14.4).
  struct ContentRange: Sendable, Hashable {
    /// The byte positions of the body; `nil` in a 416.
    var range: ClosedRange<Int64>?
    /// The size of the entity in bytes; `nil` if the server does not declare it.
    var total: Int64?
  }

  /// The value of `Content-Range`; `nil` if the field is missing or invalid.
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

  /// The value of `Content-Length`, in bytes; `nil` if the field is missing or invalid.
  ///
  /// Repeated and comma-separated values are valid if they are equal (RFC 9112, 6.3).
  var contentLength: Int64? {
    let values = lengths
    guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
    return Self.number(first)
  }

  /// Whether `Content-Length` is invalid or has different values, so that the end of the body is
  /// unknown (RFC 9112, 6.3).
  var hasInvalidLength: Bool {
    !lengths.isEmpty && contentLength == nil && self["Transfer-Encoding"] == nil
  }

  /// The comma-separated values of all `Content-Length` fields.
  private var lengths: [Substring] {
    let members = fields.filter { $0.name.lowercased() == "content-length" }
      .flatMap { $0.value.split(separator: ",", omittingEmptySubsequences: false) }
    return members.count < 2 ? members : members.map { $0.drop { $0 == " " || $0 == "\t" } }
  }

  /// The content coding of the body; `nil` if the body is not encoded.
  ///
  /// The request accepts only `identity`, because byte offsets have no meaning in an encoded body.
  /// A list of codings may be spread over several fields (RFC 9110, 5.3).
  var contentCoding: String? {
    let values = fields.filter { $0.name.lowercased() == "content-encoding" }.map(\.value)
    let codings = values.joined(separator: ",").split(separator: ",")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    let isForeign = codings.contains { !$0.isEmpty && $0.lowercased() != "identity" }
    return isForeign ? values.joined(separator: ", ") : nil
  }

  /// Returns the delay that the server requests in `Retry-After` (RFC 9110, 10.2.3), from zero to
  /// one year.
  ///
  /// The field contains seconds or a date, from which `now` is subtracted. Returns `nil` if it is
  /// missing or invalid.
  func retryAfter(now: Date) -> Duration? {
    guard let field = self["Retry-After"]?.trimmingCharacters(in: .whitespaces) else { return nil }
    let year: Int64 = 86_400 * 365
    if Self.isDigits(field[...]) { return .seconds(min(Int64(field) ?? year, year)) }
    guard let date = HTTPDate.moment(field, now: now) else { return nil }
    return .seconds(max(0, min(date.timeIntervalSince(now), Double(year))))
  }

  /// Parses a number of digits only, without sign and blanks; returns `nil` on overflow.
  private static func number(_ text: Substring) -> Int64? {
    isDigits(text) ? Int64(text) : nil
  }

  private static func isDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
