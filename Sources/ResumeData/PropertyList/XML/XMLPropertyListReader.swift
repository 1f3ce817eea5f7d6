/// Reads property lists in XML.
///
/// It accepts the elements of Apple's DTD and only the predefined entities of XML, so a document cannot
/// declare entities that expand. Like CoreFoundation, it does not normalize line ends, ignores
/// attributes, and reads a dictionary with the single key `CF$UID` as a reference.
struct XMLPropertyListReader {
  private var scanner: XMLScanner
  private let limits: PropertyListLimits
  private var budget: SizeBudget

  /// Reads the document's value.
  static func read(
    _ bytes: [UInt8],
    limits: PropertyListLimits
  ) throws(ResumeDataError) -> PropertyList {
    var reader = Self(bytes, limits)
    return try reader.document()
  }

  private init(_ bytes: [UInt8], _ limits: PropertyListLimits) {
    scanner = XMLScanner(bytes)
    self.limits = limits
    budget = SizeBudget(limits)
  }

  private mutating func document() throws(ResumeDataError) -> PropertyList {
    try scanner.skipProlog()
    var tag = try scanner.tag()
    let isWrapped = tag.name == "plist" && tag.kind == .start
    if isWrapped { tag = try scanner.tag() }
    let value = try value(tag, depth: 0)
    if isWrapped { try scanner.endTag("plist") }
    try scanner.skipSpace()
    guard scanner.isAtEnd else { throw scanner.malformed("more follows the property list") }
    return value
  }

  private mutating func value(
    _ tag: XMLScanner.Tag,
    depth: Int
  ) throws(ResumeDataError) -> PropertyList {
    guard tag.kind != .end else { throw scanner.malformed("a value is missing", at: tag.offset) }
    try budget.spend()
    switch tag.name {
    case "dict": return try dictionary(tag, depth: depth)
    case "array": return .array(try array(tag, depth: depth))
    case "true", "false":
      if tag.kind == .start { try scanner.endTag(tag.name) }
      return .bool(tag.name == "true")
    case "string": return .string(try text(tag))
    case "data":
      guard let bytes = Base64.bytes(of: try text(tag)) else {
        throw scanner.malformed("data is not in base 64", at: tag.offset)
      }
      return .data(bytes)
    case "integer":
      guard let value = XMLNumber.integer(try text(tag)) else {
        throw scanner.malformed("an integer is none", at: tag.offset)
      }
      return .integer(value)
    case "real":
      guard let value = XMLNumber.real(try text(tag)) else {
        throw scanner.malformed("a real number is none", at: tag.offset)
      }
      return .real(value)
    case "date":
      guard let seconds = CalendarTime.seconds(try text(tag)) else {
        throw scanner.malformed("a date is none", at: tag.offset)
      }
      return .date(Double(seconds))
    default:
      throw scanner.malformed("<\(tag.name)> is no kind of value", at: tag.offset)
    }
  }

  private mutating func text(_ tag: XMLScanner.Tag) throws(ResumeDataError) -> String {
    guard tag.kind == .start else { return "" }
    let text = try scanner.text(endingWith: tag.name)
    try budget.spend(values: 0, bytes: text.utf8.count)
    return text
  }

  private func checkDepth(_ depth: Int) throws(ResumeDataError) {
    guard depth < limits.depth else {
      throw ResumeDataError(.tooLarge, "the property list is nested more than \(limits.depth) deep")
    }
  }

  private mutating func array(
    _ tag: XMLScanner.Tag,
    depth: Int
  ) throws(ResumeDataError) -> [PropertyList] {
    try checkDepth(depth)
    guard tag.kind == .start else { return [] }
    var values: [PropertyList] = []
    while true {
      let inner = try scanner.tag()
      if inner.kind == .end {
        try scanner.check(inner, ends: tag.name)
        return values
      }
      values.append(try value(inner, depth: depth + 1))
    }
  }

  private mutating func dictionary(
    _ tag: XMLScanner.Tag,
    depth: Int
  ) throws(ResumeDataError) -> PropertyList {
    try checkDepth(depth)
    var members = PropertyListDictionary()
    while tag.kind == .start {
      let inner = try scanner.tag()
      if inner.kind == .end {
        try scanner.check(inner, ends: tag.name)
        break
      }
      guard inner.name == "key" else {
        throw scanner.malformed("a member of a dictionary has no name", at: inner.offset)
      }
      let key = try text(inner)
      let value = try value(try scanner.tag(), depth: depth + 1)
      try budget.spend()
      guard members.append(value, for: key) else {
        throw scanner.malformed(
          "two members of a dictionary have the same name",
          at: inner.offset
        )
      }
    }
    return Self.reference(members) ?? .dictionary(members)
  }

  /// The reference that a dictionary represents; `nil` for any other dictionary.
  static func reference(_ members: PropertyListDictionary) -> PropertyList? {
    guard members.entries.count == 1, case .integer(let value)? = members[uidKey] else {
      return nil
    }
    return UInt32(exactly: value).map(PropertyList.uid)
  }

  static let uidKey = "CF$UID"
}
