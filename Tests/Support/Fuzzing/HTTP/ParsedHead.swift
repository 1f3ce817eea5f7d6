internal import DownloadStore
internal import DownloadSync
internal import Foundation

/// A response head, parsed independently of the code under test.
struct ParsedHead: Sendable, Hashable {
  /// The contents of a `Content-Range`.
  struct Range: Sendable, Hashable {
    var first: Int64?
    var last: Int64?
    var total: Int64?
  }

  /// The status; `nil` if the first line has none of three digits.
  var status: Int?
  /// The fields, in order.
  var fields: [HeaderField]

  /// Parses lines.
  ///
  /// - Parameters:
  ///   - lines: The status line and the fields.
  ///   - joinsFields: Whether fields of the same name are joined, as URLSession does.
  init(_ lines: [[UInt8]], joinsFields: Bool) {
    let first = lines.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let words = first.split(separator: " ")
    status = words.dropFirst().first.flatMap { $0.utf8.count == 3 ? Int($0) : nil }
    fields = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { continue }
      let name = Self.text(line[..<colon])
      let value = Self.text(line[(colon + 1)...])
      let place = fields.firstIndex { $0.name.lowercased() == name.lowercased() }
      if joinsFields, let place {
        fields[place].value += ", \(value)"
      } else {
        fields.append(HeaderField(name: name, value: value))
      }
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
  }

  /// Returns the value of the first field with a name.
  subscript(_ name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Returns the number of fields with a name.
  func count(of name: String) -> Int {
    fields.count { $0.name.lowercased() == name.lowercased() }
  }

  /// The entity tag, if it is strong.
  var strongTag: String? {
    guard let tag = self["ETag"], tag.utf8.count >= 2, tag.utf8.first == UInt8(ascii: "\""),
      tag.utf8.last == UInt8(ascii: "\"")
    else { return nil }
    return tag
  }

  /// The modification date, unless it is empty.
  var lastModified: String? {
    self["Last-Modified"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The `Content-Length`, if all that were sent agree.
  var contentLength: Int64? {
    let values = fields.filter { $0.name.lowercased() == "content-length" }
      .flatMap { $0.value.split(separator: ",", omittingEmptySubsequences: false) }
      .map { Self.number($0.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))) }
    return Set(values).count == 1 ? values[0] : nil
  }

  /// The `Content-Range`, if it can be parsed and is consistent.
  var contentRange: Range? {
    guard let field = self["Content-Range"],
      let match = field.wholeMatch(
        of: /(?i:bytes) +(?:(\*)|([0-9]+)-([0-9]+))\/(?:(\*)|([0-9]+)) */
      )
    else { return nil }
    var range = Range()
    if let total = match.5 {
      guard let total = Self.number(String(total)) else { return nil }
      range.total = total
    }
    guard let first = match.2, let last = match.3 else { return range }
    guard let first = Self.number(String(first)), let last = Self.number(String(last)),
      first <= last, last < range.total ?? .max
    else { return nil }
    range.first = first
    range.last = last
    return range
  }

  /// Whether the body has a content coding, or a transfer coding that libraries do not remove, with
  /// which offsets are meaningless.
  var isCoded: Bool {
    let harmless = [
      "content-encoding": ["", "identity"], "transfer-encoding": ["", "identity", "chunked"],
    ]
    return fields.contains { field in
      guard let known = harmless[field.name.lowercased()] else { return false }
      return field.value.lowercased().split(separator: ",").contains { coding in
        let name = coding.prefix { $0 != ";" }
        return !known.contains(name.trimmingCharacters(in: .whitespaces))
      }
    }
  }

  /// Parses a size or a position; one above 1 EiB makes its field invalid (decision 0068).
  private static func number(_ text: String) -> Int64? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
      number <= 1 << 60
    else { return nil }
    return number
  }
}
