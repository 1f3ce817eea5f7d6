package import Foundation

/// A template for the folder and the file name of downloads, such as `{host}/{date}/{name}`.
///
/// A field in braces is replaced by a value of the request, made safe as a file name is. `{{` and `}}`
/// are braces. `{host}/{path}/{name}` puts `https://example.com/models/tiny/a.bin` into the folder
/// `example.com/models/tiny`.
package struct PathTemplate: Sendable, Hashable {
  /// A value of a request.
  package enum Field: String, Sendable, Hashable, CaseIterable {
    /// The host of the URL, with `+` and the port if the URL has one.
    case host
    /// The folders in the path of the URL; stands alone between slashes.
    case path
    /// The file name: that of the request, else that in the URL. At the end of the template and alone,
    /// it leaves the name to the server, as without a template.
    case name
    /// The file name without its extension.
    case stem
    /// The extension of the file name without its dot, which may be empty.
    case ext
    /// The day on which the download is added, in local time: `2026-11-28`.
    case date
    /// The year, the month and the day of ``date``: `2026`, `11`, `28`.
    case year, month, day
  }

  /// A part of a path component.
  private enum Piece: Sendable, Hashable {
    case text(String)
    case field(Field)
  }

  /// The absolute path of the folder that all downloads have in common; `nil` for a relative template.
  package let root: String?
  private let folders: [[Piece]]
  private let name: [Piece]

  /// Whether a download that is added on another day has another place.
  package var dependsOnDate: Bool {
    let dates: [Field] = [.date, .year, .month, .day]
    return (folders + [name]).joined().contains { piece in
      dates.contains { piece == .field($0) }
    }
  }

  /// Parses a template.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidName` for an unknown field, a brace without the other
  ///   one, a path that leaves the folder, and one that does not end with a file name.
  package init(_ text: String) throws(RecordStoreError) {
    var components = try Self.components(of: text)
    name = components.removeLast()
    let isAbsolute = text.hasPrefix("/")
    components.removeAll { $0.isEmpty || $0 == [.text(".")] }
    let nameless: [[Piece]] = [[], [.text(".")], [.text("..")], [.field(.path)]]
    guard !nameless.contains(name) else {
      throw RecordStoreError(.invalidName, "'\(text)' must end with a file name, such as {name}")
    }
    guard !components.contains([.text("..")]) else {
      throw RecordStoreError(.invalidName, "'\(text)' must not contain '..'")
    }
    guard (components + [name]).allSatisfy({ $0.count == 1 || !$0.contains(.field(.path)) }) else {
      throw RecordStoreError(
        .invalidName,
        "{path} must stand alone between slashes, not as '\(text)'"
      )
    }
    let common = isAbsolute ? components.prefix(while: Self.isText) : []
    root =
      isAbsolute ? "/" + common.map { Self.text(of: $0) { _ in "" } }.joined(separator: "/") : nil
    folders = Array(components.dropFirst(common.count))
  }

  /// Puts the file of a request into the folder of the template, below its own, and names it.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - time: The time at which it is added.
  package func place(_ request: inout DownloadRequest, at time: Date) {
    let given = request.filename.map { SafeFilename.sanitized($0) }
    let values = Values(request.url, given ?? SafeFilename.suggested(byURL: request.url), time)
    let folders = folders.flatMap { pieces in
      pieces == [.field(.path)] ? values.path : [Self.text(of: pieces, values.text)]
    }
    request.folder = ([request.folder] + folders).filter { !$0.isEmpty }.joined(separator: "/")
    if name != [.field(.name)] { request.filename = Self.text(of: name, values.text) }
  }

  private static func isText(_ pieces: [Piece]) -> Bool {
    pieces.allSatisfy { if case .text = $0 { true } else { false } }
  }

  private static func text(of pieces: [Piece], _ value: (Field) -> String) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .field(let field): value(field)
      }
    }
    .joined()
  }

  /// The pieces between the slashes, at least one list, which may be empty.
  private static func components(of text: String) throws(RecordStoreError) -> [[Piece]] {
    var components: [[Piece]] = [[]]
    var literal = ""
    func flush() {
      if !literal.isEmpty { components[components.count - 1].append(.text(literal)) }
      literal = ""
    }
    var rest = text.unicodeScalars[...]
    while let first = rest.popFirst() {
      switch first {
      case "/":
        flush()
        components.append([])
      case "{", "}":
        if rest.first == first {
          rest.removeFirst()
          literal.unicodeScalars.append(first)
          continue
        }
        let word = String(rest.prefix { $0 != "}" })
        guard first == "{", rest.contains("}"), let field = Field(rawValue: word) else {
          throw unknown(first == "{" && rest.contains("}") ? "{\(word)}" : String(first), in: text)
        }
        flush()
        components[components.count - 1].append(.field(field))
        rest = rest.dropFirst(word.unicodeScalars.count + 1)
      default: literal.unicodeScalars.append(first)
      }
    }
    flush()
    return components
  }

  private static func unknown(_ found: String, in text: String) -> RecordStoreError {
    let fields = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
    return RecordStoreError(
      .invalidName,
      "\(found) in '\(text)' is not a field: the fields are \(fields); {{ and }} are braces"
    )
  }

  /// The values of the fields for one request.
  private struct Values {
    let path: [String]
    private let host: String
    private let name: String
    private let date: DateComponents

    init(_ url: String, _ name: String, _ time: Date) {
      host = URLFolder.host(of: url)
      path = URLFolder.path(of: url)
      self.name = name
      date = Calendar(identifier: .gregorian).dateComponents([.year, .month, .day], from: time)
    }

    func text(_ field: Field) -> String {
      switch field {
      case .host: host
      case .path: path.joined(separator: "-")
      case .name: name
      case .stem: SafeFilename.split(name).stem
      case .ext: String(SafeFilename.split(name).ext.dropFirst())
      case .date: [text(.year), text(.month), text(.day)].joined(separator: "-")
      case .year: Self.digits(date.year, 4)
      case .month: Self.digits(date.month, 2)
      case .day: Self.digits(date.day, 2)
      }
    }

    private static func digits(_ number: Int?, _ count: Int) -> String {
      let text = "\(number ?? 0)"
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
  }
}

extension DownloadRequest {
  /// Puts the file into folders that are named after the host and the path of the URL, below its own
  /// folder.
  ///
  /// `https://example.com/pub/models/a.bin` without one folder is in `example.com/models`.
  ///
  /// - Parameter count: The number of folders of the path that are left out, from the first one on.
  package mutating func addFolders(fromURLCutting count: Int = 0) {
    let names = [URLFolder.host(of: url)] + URLFolder.path(of: url).dropFirst(max(0, count))
    folder = ([folder] + names).filter { !$0.isEmpty }.joined(separator: "/")
  }
}

/// The folders that a URL names, each made safe as a file name is.
private enum URLFolder {
  /// The host, with `+` and the port if the URL has one.
  static func host(of url: String) -> String {
    guard let url = try? RequestURL(url) else { return SafeFilename.fallback }
    let port = url.port.map { ":\($0)" } ?? ""
    // Some file systems do not store colons, which an IPv6 address has, too.
    return SafeFilename.sanitized((url.host + port).replacing(":", with: "+"))
  }

  /// The folders of the path.
  static func path(of url: String) -> [String] {
    let path = (try? RequestURL(url))?.path ?? ""
    return path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .filter { !$0.isEmpty }
      .map { SafeFilename.suggested(byComponent: String($0)) }
  }
}
