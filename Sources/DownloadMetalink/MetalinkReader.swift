internal import DownloadStore
internal import Foundation

#if canImport(FoundationXML)
  internal import FoundationXML
#endif

/// Reads one Metalink document, element by element.
final class MetalinkReader: NSObject, XMLParserDelegate {
  private static let namespace = "urn:ietf:params:xml:ns:metalink"
  private static let oldNamespace = "http://www.metalinker.org/"

  /// The names of the open elements; `nil` for those of another namespace.
  private var path: [String?] = []
  /// The text of the open element, if its text is read.
  private var text: String?
  private var attributes: [String: String] = [:]
  private var file: MetalinkFileBuilder?
  private var result = Metalink(files: [], skipped: [])
  private var failure: MetalinkError?

  /// Reads the document, once.
  func read(_ document: Data) throws(MetalinkError) -> Metalink {
    let parser = XMLParser(data: document)
    parser.delegate = self
    parser.shouldProcessNamespaces = true
    parser.shouldResolveExternalEntities = false
    // On Linux, `parse` also returns true after some errors.
    let isWellFormed = parser.parse() && parser.parserError == nil
    if let failure { throw failure }
    guard isWellFormed else {
      throw MetalinkError(
        .notXML,
        "not a Metalink document: line \(parser.lineNumber) is not well-formed XML"
      )
    }
    guard !result.files.isEmpty || !result.skipped.isEmpty else {
      throw MetalinkError(.notMetalink, "the Metalink document describes no file")
    }
    return result
  }

  private func stop(_ parser: XMLParser, _ code: MetalinkError.Code, _ message: String) {
    failure = failure ?? MetalinkError(code, message)
    parser.abortParsing()
  }

  // MARK: XMLParserDelegate

  func parser(
    _ parser: XMLParser,
    didStartElement name: String,
    namespaceURI: String?,
    qualifiedName: String?,
    attributes: [String: String] = [:]
  ) {
    guard failure == nil else { return }
    let isKnown = namespaceURI == Self.namespace
    if path.isEmpty, !isKnown || name != "metalink" {
      guard namespaceURI != Self.oldNamespace else {
        return stop(parser, .oldVersion, "a Metalink document of version 3: version 4 is required")
      }
      let reason =
        name == "metalink"
        ? "its namespace must be '\(Self.namespace)' (RFC 5854)" : "the root element is '\(name)'"
      return stop(parser, .notMetalink, "not a Metalink document: \(reason)")
    }
    path.append(isKnown ? name : nil)
    text = nil
    switch path {
    case ["metalink", "file"]:
      file = MetalinkFileBuilder(name: attributes["name"], line: parser.lineNumber)
    case ["metalink", "file", "pieces"]:
      file?.beginPieces(type: attributes["type"], length: attributes["length"])
    case ["metalink", "file", "size"], ["metalink", "file", "hash"], ["metalink", "file", "url"],
      ["metalink", "file", "pieces", "hash"]:
      text = ""
      self.attributes = attributes
    default: break
    }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    text?.append(string)
  }

  func parser(_ parser: XMLParser, foundCDATA block: Data) {
    text?.append(String(decoding: block, as: UTF8.self))
  }

  func parser(
    _ parser: XMLParser,
    didEndElement name: String,
    namespaceURI: String?,
    qualifiedName: String?
  ) {
    guard failure == nil else { return }
    let content = text.map(Self.trimmed) ?? ""
    switch path {
    case ["metalink", "file", "size"]: file?.addSize(content)
    case ["metalink", "file", "hash"]: file?.addDigest(content, type: attributes["type"])
    case ["metalink", "file", "pieces", "hash"]: file?.addPieceDigest(content)
    case ["metalink", "file", "url"]:
      file?.addSource(
        content,
        priority: attributes["priority"],
        location: attributes["location"]
      )
    case ["metalink", "file"]:
      do {
        if let built = try file?.build() { result.files.append(built) }
      } catch {
        result.skipped.append(error.file)
      }
      file = nil
    default: break
    }
    path.removeLast()
    text = nil
  }

  private static func trimmed(_ text: String) -> String {
    text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
