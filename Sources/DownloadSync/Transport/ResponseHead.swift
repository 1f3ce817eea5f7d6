public import DownloadStore
internal import Foundation

/// The status and the header fields of a response.
///
/// ```swift
/// let head = ResponseHead(status: 200, fields: [HeaderField(name: "ETag", value: "\"1\"")])
/// print(head["etag"] ?? "")    // "1""
/// ```
public struct ResponseHead: Sendable, Hashable {
  /// The status code, 200 to 599.
  public var status: Int
  /// The header fields, in no particular order.
  public var fields: [HeaderField]
  /// The URL of the response, after redirects.
  public var url: String?
  /// Whether the transport removes content codings from the body, so that the bytes are not those
  /// that the server stores.
  package var isDecoded = false
  /// The number of bytes that a background session has delivered with the head; `nil` for the head of
  /// a response whose body follows.
  package var deliveredByteCount: Int64?

  /// Creates a response head.
  public init(status: Int, fields: [HeaderField], url: String? = nil) {
    self.status = status
    self.fields = fields
    self.url = url
  }

  /// The value of the first field with a name, ignoring case; `nil` if there is none.
  public subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }

  /// Scheme, host and port of the server that sent the response; `nil` if its URL is not known.
  var origin: String? { url.map(RecordIdentity.origin) }

  /// The origin as a record stores it; `nil` if it is a given one, or not known.
  func origin(unlike other: String) -> String? { origin.flatMap { $0 == other ? nil : $0 } }

  /// The value of a field that a record stores; `nil` if there is none, or if it is longer than any
  /// server's: it would be read and written with every change of the record.
  func storable(_ name: String) -> String? {
    self[name].flatMap { $0.utf8.count <= Self.longestStoredField ? $0 : nil }
  }

  /// The maximum length of a stored field in bytes.
  private static let longestStoredField = 1_024

  /// The value of a field that is a list, and that may be spread over several lines (RFC 9110, 5.3);
  /// `nil` if there is none.
  func list(_ name: String) -> String? {
    let name = name.lowercased()
    let values = fields.filter { $0.name.lowercased() == name }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }
}

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

  /// Whether the server says that it sends no ranges (RFC 9110, 14.3).
  var refusesRanges: Bool {
    self["Accept-Ranges"]?.trimmingCharacters(in: .whitespaces).lowercased() == "none"
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
    let values = list("Content-Encoding") ?? ""
    let codings = values.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    let isForeign = codings.contains { !$0.isEmpty && $0.lowercased() != "identity" }
    return isForeign ? values : nil
  }

  /// The transfer codings of the body if one is not `chunked`; `nil` otherwise.
  ///
  /// No request accepts another one (RFC 9112, 6.1 and 7.4). Some libraries remove only `chunked`, so
  /// that the bytes are coded. The obsolete `identity` changes nothing.
  var transferCoding: String? {
    let values = list("Transfer-Encoding") ?? ""
    let codings = values.split(separator: ",").map { coding in
      coding.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
    return codings.allSatisfy { ["", "chunked", "identity"].contains($0) } ? nil : values
  }

  /// Returns the delay that the server requests in `Retry-After` (RFC 9110, 10.2.3), from zero to
  /// one year.
  ///
  /// The field contains seconds or a date of the server's clock, which may differ from ours: the time of
  /// the response is subtracted (RFC 9110, 6.6.1), and `now` only if the response does not state it.
  /// Returns `nil` if the field is missing or invalid.
  func retryAfter(now: Date) -> Duration? {
    guard let field = self["Retry-After"]?.trimmingCharacters(in: .whitespaces) else { return nil }
    let year: Int64 = 86_400 * 365
    if Self.isDigits(field[...]) { return .seconds(min(Int64(field) ?? year, year)) }
    guard let date = HTTPDate.moment(field, now: now) else { return nil }
    let wait = date.timeIntervalSince(serverTime(now: now) ?? now)
    return .seconds(max(0, min(wait, Double(year))))
  }

  /// Returns the time of the server's clock: `Date`, and the time that the response was in a cache since;
  /// `nil` if the response does not state it.
  private func serverTime(now: Date) -> Date? {
    guard let field = self["Date"], let date = HTTPDate.moment(field, now: now) else { return nil }
    let age = self["Age"].flatMap { Self.number($0[...]) } ?? 0
    return date.addingTimeInterval(Double(age))
  }

  /// Parses a size of digits only, without sign and blanks; returns `nil` for a number that no file
  /// has, so that sums of sizes cannot overflow.
  private static func number(_ text: Substring) -> Int64? {
    guard isDigits(text), let number = Int64(text), RecordLimits.isSize(number) else { return nil }
    return number
  }

  private static func isDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}

extension ResponseHead {
  /// Returns the head for a delivered file, which contains all bytes from `offset` to the end.
  ///
  /// The last response of the task may have contained only the final part of these bytes. Only a
  /// 206 is changed: every other status describes the whole body.
  package func forDelivery(byteCount: Int64, from offset: Int64) -> Self {
    var head = self
    head.deliveredByteCount = byteCount
    guard status == 206, byteCount > 0 else { return head }
    head.fields.removeAll { ["content-range", "content-length"].contains($0.name.lowercased()) }
    // The size that the server stated shows whether bytes are missing, or are too many.
    let length = offset > 0 ? byteCount : contentRange?.total ?? byteCount
    head.fields.append(HeaderField(name: "Content-Length", value: "\(length)"))
    if offset > 0 {
      let total = contentRange?.total.map { "\($0)" } ?? "*"
      let last = Int128(offset) + Int128(byteCount) - 1
      let range = "bytes \(offset)-\(last)/\(total)"
      head.fields.append(HeaderField(name: "Content-Range", value: range))
    } else {
      head.status = 200
    }
    return head
  }
}

extension HTTPDate {
  /// Parses the date of a file; returns `nil` for one that says nothing: the start of 1970, which servers
  /// state for "unknown", an earlier one, and one in the future.
  static func fileTime(_ text: String, now: Date) -> Date? {
    guard let date = moment(text, now: now), date.timeIntervalSince1970 > 0, date <= now else {
      return nil
    }
    return date
  }
}

/// A parser for the three date formats that an HTTP recipient must accept (RFC 9110, 5.6.7).
enum HTTPDate {
  private static let formats = [
    "EEE, dd MMM yyyy HH:mm:ss zzz",
    "EEEE, dd-MMM-yy HH:mm:ss zzz",
    "EEE MMM d HH:mm:ss yyyy",
  ]

  /// Parses a date; returns `nil` for any other text.
  ///
  /// A two-digit year is at most fifty years after `now`.
  static func moment(_ text: String, now: Date) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    // A two-digit year falls within the hundred years that end fifty years from now.
    formatter.twoDigitStartDate = now.addingTimeInterval(-50 * 365.25 * 86_400)
    for format in formats {
      formatter.dateFormat = format
      if let date = formatter.date(from: text) { return date }
    }
    return nil
  }
}
