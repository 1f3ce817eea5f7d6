/// A scanner for the subset of XML that property lists use.
struct XMLScanner {
  /// A tag.
  struct Tag {
    enum Kind {
      case start
      case end
      /// An empty-element tag.
      case empty
    }

    var name: String
    var kind: Kind
    /// The byte offset of its start.
    var offset: Int
  }

  /// The maximum length of a tag's name.
  private static let longestName = 16

  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: PropertyListFormat.byteOrderMark) {
      offset = PropertyListFormat.byteOrderMark.count
    }
  }

  var isAtEnd: Bool { offset == bytes.count }

  func malformed(_ message: String, at place: Int? = nil) -> ResumeDataError {
    ResumeDataError(.malformed, message, at: place ?? offset)
  }

  // MARK: Between values

  /// Skips the XML declaration and the document type, which must not affect what follows.
  mutating func skipProlog() throws(ResumeDataError) {
    if startsWith("<?xml") {
      let start = offset
      try skip(past: "?>")
      try checkEncoding(in: start..<offset)
    }
    try skipSpace()
    guard startsWith("<!DOCTYPE") else { return }
    while let byte = current, byte != UInt8(ascii: ">") {
      guard byte != UInt8(ascii: "[") else {
        throw malformed("the document declares entities or elements of its own")
      }
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        try skipQuoted(byte)
      } else {
        offset += 1
      }
    }
    guard skip(">") else { throw malformed("the document type has no end") }
  }

  /// Skips white space, comments and processing instructions.
  mutating func skipSpace() throws(ResumeDataError) {
    while let byte = current {
      if byte.isXMLSpace {
        offset += 1
      } else if startsWith("<!--") {
        offset += 4
        try skip(past: "-->")
      } else if startsWith("<?") {
        try skip(past: "?>")
      } else {
        return
      }
    }
  }

  /// Accepts UTF-8, which CoreFoundation writes, and its subset ASCII.
  private func checkEncoding(in range: Range<Int>) throws(ResumeDataError) {
    let declaration = String(decoding: bytes[range], as: UTF8.self).lowercased()
    guard let name = declaration.split(separator: "encoding").dropFirst().first else { return }
    let words = name.split { "= \t\r\n\"'".contains($0) }
    guard let encoding = words.first, ["utf-8", "us-ascii", "ascii"].contains(encoding) else {
      throw malformed("the document is not in UTF-8", at: range.lowerBound)
    }
  }

  // MARK: Tags

  /// Reads the next tag.
  mutating func tag() throws(ResumeDataError) -> Tag {
    try skipSpace()
    let start = offset
    guard skip("<") else {
      throw malformed(isAtEnd ? "the property list is cut short" : "text stands between values")
    }
    let isEnd = skip("/")
    let nameStart = offset
    while let byte = current, byte.isNameByte, offset - nameStart <= Self.longestName {
      offset += 1
    }
    let name = String(decoding: bytes[nameStart..<offset], as: UTF8.self)
    guard !name.isEmpty, name.utf8.count <= Self.longestName else {
      throw malformed("an element has no name that property lists know", at: start)
    }
    var isEmpty = false
    while let byte = current, byte != UInt8(ascii: ">") {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        try skipQuoted(byte)
      } else {
        guard byte != UInt8(ascii: "<") else { throw malformed("a tag has no end", at: start) }
        isEmpty = byte == UInt8(ascii: "/")
        offset += 1
      }
    }
    guard skip(">"), !(isEmpty && isEnd) else { throw malformed("a tag has no end", at: start) }
    return Tag(name: name, kind: isEnd ? .end : isEmpty ? .empty : .start, offset: start)
  }

  /// Reads the end tag of an element.
  mutating func endTag(_ name: String) throws(ResumeDataError) {
    try check(try tag(), ends: name)
  }

  func check(_ tag: Tag, ends name: String) throws(ResumeDataError) {
    guard tag.kind == .end, tag.name == name else {
      throw malformed("</\(name)> is missing", at: tag.offset)
    }
  }

  // MARK: Text

  /// Reads the text up to the end tag, and the tag.
  mutating func text(endingWith name: String) throws(ResumeDataError) -> String {
    var text: [UInt8] = []
    let start = offset
    while let byte = current {
      switch byte {
      case UInt8(ascii: "&"): text.append(contentsOf: String(try reference()).utf8)
      case UInt8(ascii: "<"):
        guard startsWith("<![CDATA[") else {
          try endTag(name)
          return try checked(text, start)
        }
        offset += 9
        let from = offset
        try skip(past: "]]>")
        text += bytes[from..<(offset - 3)]
      default:
        text.append(byte)
        offset += 1
      }
    }
    throw malformed("the property list is cut short")
  }

  private func checked(_ bytes: [UInt8], _ start: Int) throws(ResumeDataError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw malformed("text is no UTF-8", at: start)
    }
    guard text.unicodeScalars.allSatisfy(\.isXMLCharacter) else {
      throw malformed("text has a character that XML does not allow", at: start)
    }
    return text
  }

  /// Reads `&name;`, `&#decimal;` or `&#xhexadecimal;`.
  private mutating func reference() throws(ResumeDataError) -> Unicode.Scalar {
    let start = offset
    let longest = 16
    while let byte = current, byte != UInt8(ascii: ";"), offset - start <= longest { offset += 1 }
    let name = String(decoding: bytes[(start + 1)..<offset], as: UTF8.self)
    guard skip(";") else { throw malformed("a reference has no end", at: start) }
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      let isHexadecimal = name.hasPrefix("#x")
      let digits = name.dropFirst(isHexadecimal ? 2 : 1)
      guard name.hasPrefix("#"), digits.allSatisfy(\.isHexDigit),
        let value = UInt32(digits, radix: isHexadecimal ? 16 : 10),
        let scalar = Unicode.Scalar(value)
      else { throw malformed("there is no character &\(name);", at: start) }
      return scalar
    }
  }

  // MARK: Bytes

  private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private func startsWith(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard count <= bytes.count - offset else { return false }
    return bytes[offset..<(offset + count)].elementsEqual(text.description.utf8)
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    guard startsWith(text) else { return false }
    offset += text.utf8CodeUnitCount
    return true
  }

  private mutating func skip(past text: StaticString) throws(ResumeDataError) {
    let start = offset
    while !skip(text) {
      guard !isAtEnd else { throw malformed("\(text) is missing", at: start) }
      offset += 1
    }
  }

  private mutating func skipQuoted(_ quote: UInt8) throws(ResumeDataError) {
    let start = offset
    offset += 1
    while current != quote {
      guard !isAtEnd else { throw malformed("a quotation has no end", at: start) }
      offset += 1
    }
    offset += 1
  }
}

extension UInt8 {
  /// The white space of XML.
  var isXMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }

  fileprivate var isNameByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: false
    }
  }
}

extension Unicode.Scalar {
  /// Whether XML 1.0 allows the character in text (section 2.2).
  var isXMLCharacter: Bool {
    switch value {
    case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x1_0000...: true
    default: false
    }
  }
}
