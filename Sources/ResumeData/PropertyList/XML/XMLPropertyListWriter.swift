/// Writes property lists in XML, in the layout of CoreFoundation.
struct XMLPropertyListWriter {
  private let limits: PropertyListLimits
  private var budget: SizeBudget
  private var text = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
    "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">

    """

  /// Encodes a property list.
  static func write(
    _ value: PropertyList,
    limits: PropertyListLimits
  ) throws(ResumeDataError) -> [UInt8] {
    var writer = Self(limits)
    try writer.write(value, depth: 0)
    writer.text += "</plist>\n"
    return Array(writer.text.utf8)
  }

  private init(_ limits: PropertyListLimits) {
    self.limits = limits
    budget = SizeBudget(limits)
  }

  private mutating func write(_ value: PropertyList, depth: Int) throws(ResumeDataError) {
    try budget.spend()
    switch value {
    case .bool(let value): line(value ? "<true/>" : "<false/>", depth)
    case .integer(let value): line("<integer>\(value)</integer>", depth)
    case .real(let value): line("<real>\(XMLNumber.text(value))</real>", depth)
    case .string(let value): line("<string>\(try escaped(value))</string>", depth)
    case .uid(let value): try writeUID(value, depth: depth)
    case .data(let bytes): try write(bytes, depth: depth)
    case .array(let values): try write(values, depth: depth)
    case .dictionary(let members): try write(members, depth: depth)
    case .date(let seconds):
      guard let time = CalendarTime.text(seconds) else {
        throw ResumeDataError(.notRepresentable, "XML has no date \(seconds) s from 2001")
      }
      line("<date>\(time)</date>", depth)
    case .null, .set:
      throw ResumeDataError(.notRepresentable, "XML property lists hold neither nothing nor sets")
    }
  }

  private mutating func line(_ content: String, _ depth: Int) {
    for _ in 0..<depth { text += "\t" }
    text += content
    text += "\n"
  }

  private func checkDepth(_ depth: Int) throws(ResumeDataError) {
    guard depth < limits.depth else {
      throw ResumeDataError(.tooLarge, "the property list is nested more than \(limits.depth) deep")
    }
  }

  private mutating func write(_ values: [PropertyList], depth: Int) throws(ResumeDataError) {
    try checkDepth(depth)
    guard !values.isEmpty else { return line("<array/>", depth) }
    line("<array>", depth)
    for value in values { try write(value, depth: depth + 1) }
    line("</array>", depth)
  }

  private mutating func write(
    _ members: PropertyListDictionary,
    depth: Int
  ) throws(ResumeDataError) {
    try checkDepth(depth)
    guard !members.entries.isEmpty else { return line("<dict/>", depth) }
    guard XMLPropertyListReader.reference(members) == nil else {
      throw ResumeDataError(.notRepresentable, "XML would read a dictionary as a reference")
    }
    line("<dict>", depth)
    for entry in members.entries {
      line("<key>\(try escaped(entry.key))</key>", depth + 1)
      try write(entry.value, depth: depth + 1)
    }
    line("</dict>", depth)
  }

  private mutating func writeUID(_ value: UInt32, depth: Int) throws(ResumeDataError) {
    try budget.spend()
    line("<dict>", depth)
    line("<key>\(XMLPropertyListReader.uidKey)</key>", depth + 1)
    line("<integer>\(value)</integer>", depth + 1)
    line("</dict>", depth)
  }

  /// Base 64 in lines of at most 76 columns, counting a tab as 8, with at most 8 tabs.
  private mutating func write(_ bytes: [UInt8], depth: Int) throws(ResumeDataError) {
    try budget.spend(values: 0, bytes: bytes.count)
    let indent = min(depth, 8)
    line("<data>", depth)
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest.prefix((76 - 8 * indent) / 4 * 3)
      line(Base64.text(of: part), indent)
      rest = rest.dropFirst(part.count)
    }
    line("</data>", depth)
  }

  /// Escapes markup characters.
  ///
  /// A carriage return becomes a character reference, because XML would read it as a line feed.
  private mutating func escaped(_ value: String) throws(ResumeDataError) -> String {
    try budget.spend(values: 0, bytes: value.utf8.count)
    var result = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;".unicodeScalars
      case "<": result += "&lt;".unicodeScalars
      case ">": result += "&gt;".unicodeScalars
      case "\r": result += "&#13;".unicodeScalars
      default:
        guard scalar.isXMLCharacter else {
          throw ResumeDataError(.notRepresentable, "XML cannot hold a control character")
        }
        result.append(scalar)
      }
    }
    return String(result)
  }
}
