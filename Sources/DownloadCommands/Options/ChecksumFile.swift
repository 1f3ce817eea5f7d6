internal import CommandLineSupport
internal import DownloadStore
internal import Foundation

/// The checksums of files by name: `SHA256SUMS`, `MD5SUMS`, `FILE.sha256` and the like.
///
/// Lines have one of these forms, and all others are ignored, such as comments and signatures:
///
/// - `HEX  NAME` or `HEX *NAME`, as sha256sum writes it. After a leading backslash, `\\`, `\n` and
///   `\r` in the name are escapes.
/// - `SHA256 (NAME) = HEX`, as BSD, `sha256sum --tag` and OpenSSL write it.
/// - `HEX` alone, for the file that the checksum file is named after: `FILE.sha256` for `FILE`.
///
/// The number of digits determines the algorithm. A name may be a path; its last component counts, and
/// if several paths end with it, the one that the path of the URL ends with.
struct ChecksumFile: Sendable, Equatable {
  /// A checksum with the path of its file.
  private struct Entry: Sendable, Hashable {
    /// The folders of the path, the last one first.
    var folders: [String]
    var digest: Digest
  }

  /// The checksums of each file name, the last component of its path.
  private var entries: [String: Set<Entry>] = [:]

  /// Whether the file contains no checksum.
  var isEmpty: Bool { entries.isEmpty }

  /// Creates an empty value, to merge files.
  init() {}

  /// Parses a file.
  ///
  /// - Parameters:
  ///   - text: Its contents.
  ///   - name: Its own name.
  init(_ text: String, named name: String) {
    let text = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
    for line in text.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
      guard let entry = Self.tagged(line) ?? Self.plain(line, in: name) else { continue }
      var folders = entry.name.split(separator: "/").filter { $0 != "." }.map { String($0) }
      guard let file = folders.popLast() else { continue }
      entries[file, default: []].insert(Entry(folders: folders.reversed(), digest: entry.digest))
    }
  }

  /// Parses the contents of a file at a path or a URL.
  ///
  /// - Throws: ``CommandFailure`` with `damaged` if it has no checksum.
  init(_ bytes: some Collection<UInt8>, at place: String) throws {
    let isURL = MetalinkSource.isURL(place)
    let path = isURL ? (try? RequestURL(place))?.path ?? "" : place
    let name = path.split(separator: "/").last.map(String.init) ?? path
    self.init(String(decoding: bytes, as: UTF8.self), named: name)
    guard !isEmpty else {
      throw CommandFailure(
        .damaged,
        "\(isURL ? Redaction.url(place) : place) contains no MD5, SHA-1, SHA-256 or SHA-512 checksum"
      )
    }
  }

  /// Adds the checksums of another file.
  mutating func merge(_ other: ChecksumFile) {
    entries.merge(other.entries) { $0.union($1) }
  }

  /// A name with different checksums of the same algorithm.
  struct Ambiguous: Error, Equatable {
    var name: String
  }

  /// Returns the checksum of a file name with the strongest algorithm; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - name: The file name.
  ///   - folders: The folders of the URL's path, in order. They decide between files of the same name
  ///     in different folders. `nil` if there is no URL.
  /// - Returns: The checksum.
  /// - Throws: ``Ambiguous`` if there are different checksums of this algorithm.
  func digest(of name: String, in folders: [String]? = nil) throws(Ambiguous) -> Digest? {
    let found = entries[name] ?? []
    for algorithm in Digest.Algorithm.allCases.sorted(by: { $0.isStronger(than: $1) }) {
      var candidates = found.filter { $0.digest.algorithm == algorithm }
      if Set(candidates.map(\.digest)).count > 1 {
        guard let folders else { throw Ambiguous(name: name) }
        let own = Array(folders.reversed())
        let common = Dictionary(grouping: candidates) { entry in
          zip(entry.folders, own).prefix { $0 == $1 }.count
        }
        let longest = common.keys.max() ?? 0
        // Without a common folder the path decides nothing, unless neither has one.
        guard longest > 0 || folders.isEmpty else { throw Ambiguous(name: name) }
        candidates = Set(common[longest] ?? [])
        // A path that the URL ends with as a whole decides against one that it ends with in part.
        let whole = candidates.filter { $0.folders.count == longest }
        if !whole.isEmpty { candidates = whole }
      }
      let digests = Set(candidates.map(\.digest))
      guard digests.count < 2 else { throw Ambiguous(name: name) }
      if let digest = digests.first { return digest }
    }
    return nil
  }

  /// Returns the checksum of the file of a download; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - url: Its URL, whose last component is the name that counts first.
  ///   - filename: The name of the file on disk; `nil` if it follows from the URL.
  /// - Returns: The checksum.
  /// - Throws: ``CommandFailure`` if there are different checksums of it.
  func digest(ofFileAt url: String, named filename: String?) throws(CommandFailure) -> Digest? {
    let path = (try? RequestURL(url))?.path ?? ""
    let parts = path.split(separator: "/").map { String($0).removingPercentEncoding ?? String($0) }
    let names = [parts.last ?? "", SafeFilename.suggested(byURL: url), filename]
    do throws(Ambiguous) {
      for name in names.compactMap({ $0 }) {
        if let digest = try digest(of: name, in: Array(parts.dropLast())) { return digest }
      }
      return nil
    } catch {
      throw CommandFailure(
        .failed,
        "the checksum files have different checksums of '\(error.name)': pass --checksum"
      )
    }
  }

  /// Parses `HEX  NAME`, `HEX *NAME` or `HEX`.
  private static func plain(
    _ line: Substring,
    in fileName: String
  ) -> (name: String, digest: Digest)? {
    let isEscaped = line.hasPrefix("\\")
    let content = isEscaped ? line.dropFirst() : line
    let digits = content.prefix { $0 != " " && $0 != "\t" }
    guard let digest = digest(String(digits)) else { return nil }
    var name = content.dropFirst(digits.count)
    guard !name.trimmingBlanks.isEmpty else {
      guard let dot = fileName.lastIndex(of: "."), dot != fileName.startIndex else { return nil }
      return (String(fileName[..<dot]), digest)
    }
    name.removeFirst()
    if name.first == " " || name.first == "*" { name.removeFirst() }
    guard isEscaped else { return (String(name), digest) }
    return unescaped(name).map { ($0, digest) }
  }

  /// Parses `SHA256 (NAME) = HEX` or `SHA256(NAME)= HEX`.
  private static func tagged(_ line: Substring) -> (name: String, digest: Digest)? {
    let isEscaped = line.hasPrefix("\\")
    let content = isEscaped ? line.dropFirst() : line
    guard let open = content.firstIndex(of: "("), let close = content.lastIndex(of: ")"),
      open < close
    else { return nil }
    let tag = content[..<open].trimmingBlanks
    var digits = content[content.index(after: close)...].trimmingBlanks
    guard digits.popFirst() == "=" else { return nil }
    let algorithm = tag.uppercased().replacing("SHA2-", with: "SHA")
    guard let digest = try? Digest("\(algorithm):\(digits.trimmingBlanks)") else { return nil }
    let name = content[content.index(after: open)..<close]
    guard isEscaped else { return (String(name), digest) }
    return unescaped(name).map { ($0, digest) }
  }

  private static func digest(_ digits: String) -> Digest? {
    guard !digits.isEmpty, digits.utf8.count <= 128, digits.allSatisfy(\.isHexDigit) else {
      return nil
    }
    return try? Digest(digits)
  }

  /// Returns the name with its escapes replaced; `nil` for an unknown escape.
  private static func unescaped(_ name: Substring) -> String? {
    var result = ""
    var rest = name
    while let next = rest.popFirst() {
      guard next == "\\" else {
        result.append(next)
        continue
      }
      switch rest.popFirst() {
      case "\\": result.append("\\")
      case "n": result.append("\n")
      case "r": result.append("\r")
      default: return nil
      }
    }
    return result
  }
}
