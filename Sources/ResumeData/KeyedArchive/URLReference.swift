/// URL references as text, and their resolution.
enum URLReference {
  /// The five parts of a reference (RFC 3986, appendix B).
  private struct Parts {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?
    var fragment: Substring?

    init(_ text: String) {
      var rest = text[...]
      fragment = Self.cut(&rest, at: "#")
      query = Self.cut(&rest, at: "?")
      if let colon = rest.firstIndex(of: ":"), Self.isScheme(rest[..<colon]) {
        scheme = rest[..<colon]
        rest = rest[rest.index(after: colon)...]
      }
      if rest.hasPrefix("//") {
        let content = rest.dropFirst(2)
        let end = content.firstIndex(of: "/") ?? content.endIndex
        authority = content[..<end]
        rest = content[end...]
      }
      path = rest
    }

    private static func cut(_ text: inout Substring, at mark: Character) -> Substring? {
      guard let place = text.firstIndex(of: mark) else { return nil }
      defer { text = text[..<place] }
      return text[text.index(after: place)...]
    }

    private static func isScheme(_ text: Substring) -> Bool {
      guard let first = text.first, first.isASCII, first.isLetter else { return false }
      return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    var text: String {
      var text = scheme.map { "\($0):" } ?? ""
      text += authority.map { "//\($0)" } ?? ""
      text += path
      text += query.map { "?\($0)" } ?? ""
      text += fragment.map { "#\($0)" } ?? ""
      return text
    }
  }

  /// Resolves a reference against a base (RFC 3986, section 5.2.2).
  static func resolve(_ reference: String, against base: String) -> String {
    var target = Parts(reference)
    let base = Parts(base)
    if target.scheme != nil { return with(&target, path: target.path) }
    target.scheme = base.scheme
    if target.authority != nil { return with(&target, path: target.path) }
    target.authority = base.authority
    if target.path.isEmpty {
      target.query = target.query ?? base.query
      target.path = base.path
      return target.text
    }
    if target.path.hasPrefix("/") { return with(&target, path: target.path) }
    if base.authority != nil, base.path.isEmpty { return with(&target, path: "/" + target.path) }
    let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? ""
    return with(&target, path: folder + target.path)
  }

  private static func with(_ target: inout Parts, path: Substring) -> String {
    target.path = Substring(withoutDotSegments(path))
    return target.text
  }

  /// Removes the segments `.` and `..` from a path (RFC 3986, section 5.2.4).
  private static func withoutDotSegments(_ path: Substring) -> String {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    let isAbsolute = path.hasPrefix("/")
    var kept: [Substring] = []
    for (index, segment) in segments.enumerated().dropFirst(isAbsolute ? 1 : 0) {
      let isLast = index == segments.count - 1
      switch segment {
      case "..":
        if !kept.isEmpty { kept.removeLast() }
        if isLast { kept.append("") }
      case ".": if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return (isAbsolute ? "/" : "") + kept.joined(separator: "/")
  }
}
