/// The fields of a form or of a query: names and values, in their order.
struct FormFields: Sendable, Hashable {
  /// The largest number of fields that are read.
  static let maximumCount = 10_000

  /// A name and its value.
  struct Field: Sendable, Hashable {
    var name: String
    var value: String
  }

  private(set) var fields: [Field] = []

  init() {}

  /// Decodes `application/x-www-form-urlencoded`, as browsers send a form and its query.
  init(_ text: some StringProtocol) {
    for part in text.split(separator: "&").prefix(Self.maximumCount) {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      add(Self.decoded(pair[0].utf8), pair.count > 1 ? Self.decoded(pair[1].utf8) : "")
    }
  }

  mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// The first value of a name; `nil` if it is missing or empty.
  subscript(name: String) -> String? {
    fields.first { $0.name == name && !$0.value.isEmpty }?.value
  }

  /// All values of a name.
  func values(_ name: String) -> [String] {
    fields.compactMap { $0.name == name && !$0.value.isEmpty ? $0.value : nil }
  }

  /// The fields as a query, without the question mark.
  var encoded: String {
    fields.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&")
  }

  /// The fields as hidden inputs of a form.
  var inputs: HTML {
    HTML(
      fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" as HTML }
    )
  }

  /// Percent-encodes a text for a query or a component of a path.
  static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: "~"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return result
  }

  private static func decoded(_ bytes: some Sequence<UInt8>) -> String {
    var result: [UInt8] = []
    // The digits of an escape that has begun.
    var escape: [UInt8] = []
    func endEscape(_ result: inout [UInt8], _ escape: inout [UInt8]) {
      result += escape
      escape = []
    }
    for byte in bytes {
      if !escape.isEmpty {
        escape.append(byte)
        guard escape.count == 3 else { continue }
        if let value = UInt8(String(decoding: escape[1...], as: UTF8.self), radix: 16) {
          result.append(value)
          escape = []
        } else {
          endEscape(&result, &escape)
        }
      } else if byte == UInt8(ascii: "%") {
        escape = [byte]
      } else {
        result.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
      }
    }
    endEscape(&result, &escape)
    return String(decoding: result, as: UTF8.self)
  }
}
