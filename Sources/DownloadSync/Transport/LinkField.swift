internal import DownloadStore

/// A parser for the field `Link` (RFC 8288, section 3).
struct LinkField {
  /// A link with its parameters, whose names are in lower case.
  struct Link: Sendable, Hashable {
    /// The reference, which may be relative.
    var target: String
    /// The first value of each parameter.
    var parameters: [String: String] = [:]

    /// Whether the link has a relation type.
    func isRelated(as type: String) -> Bool {
      parameters["rel"]?.lowercased().split(separator: " ").contains { $0 == type } ?? false
    }
  }

  // Scalars, not characters: a quotation mark and a following combining mark are one character.
  private var rest: Substring.UnicodeScalarView

  /// Returns the links of a field; text that is no link is skipped.
  static func links(in field: String) -> [Link] {
    var parser = Self(rest: field.unicodeScalars[...])
    var links: [Link] = []
    while !parser.rest.isEmpty {
      if let link = parser.next() { links.append(link) }
      parser.rest = parser.rest.drop { $0 != "," }.dropFirst()
    }
    return links
  }

  private mutating func next() -> Link? {
    skipBlanks()
    guard rest.first == "<" else { return nil }
    let target = rest.dropFirst().prefix { $0 != ">" }
    rest = rest.dropFirst(target.count + 1)
    // Without the closing bracket, the rest of the field would be the target.
    guard rest.popFirst() == ">" else { return nil }
    var link = Link(target: String(target))
    while true {
      skipBlanks()
      guard rest.first == ";" else { return link }
      rest = rest.dropFirst()
      skipBlanks()
      let name = take { !"=;, \t".unicodeScalars.contains($0) }.lowercased()
      skipBlanks()
      var value = ""
      if rest.first == "=" {
        rest = rest.dropFirst()
        skipBlanks()
        value = rest.first == "\"" ? quoted() : take { !";, \t".unicodeScalars.contains($0) }
      }
      if !name.isEmpty, link.parameters[name] == nil { link.parameters[name] = value }
    }
  }

  private mutating func skipBlanks() {
    rest = rest.drop { $0 == " " || $0 == "\t" }
  }

  private mutating func take(while isIncluded: (Unicode.Scalar) -> Bool) -> String {
    let taken = rest.prefix(while: isIncluded)
    rest = rest.dropFirst(taken.count)
    return String(taken)
  }

  /// Consumes a quoted string; without a closing quotation mark it extends to the end of the field.
  private mutating func quoted() -> String {
    var value = String.UnicodeScalarView()
    rest.removeFirst()
    while let scalar = rest.popFirst(), scalar != "\"" {
      if let kept = scalar == "\\" ? rest.popFirst() : scalar { value.append(kept) }
    }
    return String(value)
  }
}

extension ResponseHead {
  /// Returns the URLs of the same file on other servers, the preferred ones first (RFC 6249, section
  /// 3).
  ///
  /// They are relative to the URL of the response, or that of the request if the response does not
  /// know its own. Contains only URLs that may be downloaded. A response that was encrypted lists no
  /// URL without encryption.
  package func duplicates(of requested: String) -> [String] {
    guard let field = list("Link"), let base = try? RequestURL(url ?? requested) else {
      return []
    }
    let isEncrypted = base.scheme == .https
    let duplicates = LinkField.links(in: field).filter { $0.isRelated(as: "duplicate") }
      .compactMap { link -> (url: String, priority: Int)? in
        // A replaced byte would make it another file.
        guard !link.target.unicodeScalars.contains("\u{FFFD}"),
          let target = try? base.resolving(link.target),
          !isEncrypted || target.scheme == .https,
          (try? RecordIdentity.validate(target.text)) != nil
        else { return nil }
        // Without a priority, a mirror is the last one (RFC 6249, section 3.1).
        let priority = link.parameters["pri"].flatMap { Int($0) } ?? 999_999
        return (target.text, priority)
      }
    // The order of equal priorities is that of the field.
    return duplicates.enumerated()
      .sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
      .map(\.element.url)
  }
}
