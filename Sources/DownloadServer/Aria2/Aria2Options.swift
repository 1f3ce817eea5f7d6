internal import DownloadStore
internal import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The options of a download, by the names that aria2 gives them.
///
/// Options that are only about BitTorrent, or that have no effect here, are ignored as aria2 ignores
/// what does not apply. An option whose neglect would surprise, such as a proxy, is refused.
struct Aria2Options: Sendable, Hashable {
  /// The value of `dir`: an absolute path, or one below the default folder.
  private(set) var folder: String?
  /// The value of `out`: a file name, perhaps with folders below ``folder``.
  private(set) var name: String?
  private(set) var headers: [HeaderField] = []
  private(set) var digest: Digest?
  /// The rate limit in bytes per second, 0 for none; `nil` if the option is not given.
  private(set) var bytesPerSecond: Int64?
  private(set) var isPaused = false
  private(set) var id: String?
  /// Whether another file of the name is an error.
  private(set) var requiresName = false
  private var split: Int32?
  private var perServer: Int32?
  /// The names of the options that were given and have an effect.
  private(set) var names: Set<String> = []

  /// Options that say which servers learn about a download.
  private static let refused: Set = [
    "all-proxy", "http-proxy", "https-proxy", "load-cookies", "certificate", "private-key",
  ]

  /// The options that have an effect.
  private static let known = refused.union([
    "dir", "out", "header", "referer", "user-agent", "http-user", "http-passwd", "checksum",
    "max-download-limit", "split", "max-connection-per-server", "pause", "auto-file-renaming",
    "gid",
  ])

  /// Reads the members of an options object, whose values are strings, or lists of strings for `header`.
  ///
  /// - Parameters:
  ///   - members: The members.
  ///   - url: The URL of the download, which `referer=*` stands for; `nil` if there is none yet.
  /// - Throws: ``Aria2Error``.
  init(_ members: [JSONValue.Member], for url: String?) throws(Aria2Error) {
    var (user, password): (String?, String?)
    for member in members where Self.known.contains(member.name) {
      // An empty value sets nothing; an empty element of a list is no header field.
      let values = try Self.texts(member).filter { !$0.isEmpty }
      guard let value = values.last else { continue }
      names.insert(member.name)
      switch member.name {
      case "dir": folder = value
      case "out": name = value
      case "header":
        // aria2 returns several header fields as lines, and some clients send them back like that.
        for line in values.flatMap({ $0.split(whereSeparator: \.isNewline) }) {
          headers.append(try Self.field(line))
        }
      case "referer":
        headers.append(HeaderField(name: "Referer", value: value == "*" ? url ?? value : value))
      case "user-agent": headers.append(HeaderField(name: "User-Agent", value: value))
      case "http-user": user = value
      case "http-passwd": password = value
      case "checksum": digest = try Self.digest(value)
      case "max-download-limit": bytesPerSecond = try Self.byteCount(value, member.name)
      case "split": split = try Self.count(value, member.name)
      case "max-connection-per-server": perServer = try Self.count(value, member.name)
      case "pause": isPaused = value == "true"
      case "auto-file-renaming": requiresName = value == "false"
      case "gid":
        id = value.lowercased()
        guard RecordIdentity.isID(value.lowercased()) else {
          throw Aria2Error("gid: '\(Redaction.argument(value))' is not 16 hexadecimal digits")
        }
      case let option where Self.refused.contains(option):
        throw Aria2Error(
          "\(option): the engine has this setting for all downloads; it cannot be set for one"
        )
      // No other is known.
      default: break
      }
    }
    if user != nil || password != nil {
      let login = HeaderField.basic(user: user, password: password)
      headers.append(HeaderField(name: "Authorization", value: login))
    }
  }

  /// Returns the number of connections of a download with a number of URLs; `nil` if no option is given.
  ///
  /// aria2 opens `split` connections, and at most `max-connection-per-server` of them to each host.
  func connections(urlCount: Int) -> Int32? {
    guard let perServer else { return split }
    let most = Int32(clamping: Int64(perServer) * Int64(max(urlCount, 1)))
    return split.map { min($0, most) } ?? most
  }

  /// The text of an option's value, or the texts of the list that `header` may have; none for null.
  ///
  /// - Throws: ``Aria2Error`` with the name of the option.
  private static func texts(_ member: JSONValue.Member) throws(Aria2Error) -> [String] {
    if case .array(let elements) = member.value, member.name == "header" {
      var texts: [String] = []
      for element in elements {
        guard let text = try text(of: element, member.name) else { continue }
        texts.append(text)
      }
      return texts
    }
    return try text(of: member.value, member.name).map { [$0] } ?? []
  }

  /// The text of a value; `nil` for null.
  ///
  /// - Throws: ``Aria2Error`` with the name of the option.
  static func text(of value: JSONValue, _ name: String) throws(Aria2Error) -> String? {
    switch value {
    case .string(let text): return text
    // aria2 ignores these; several clients send them.
    case .number(let digits): return digits
    case .bool(let flag): return flag ? "true" : "false"
    case .null: return nil
    case .array, .object:
      throw Aria2Error("\(Redaction.argument(name)): the value must be a string")
    }
  }

  private static func field(_ line: Substring) throws(Aria2Error) -> HeaderField {
    // The value may be a secret, so no message repeats it.
    guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
      throw Aria2Error("header: a header field must have the form 'Name: value'")
    }
    let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    return HeaderField(name: String(line[..<colon]), value: String(value))
  }

  private static func digest(_ text: String) throws(Aria2Error) -> Digest {
    do {
      return try Digest(text)
    } catch {
      throw Aria2Error("checksum: \(error.message)")
    }
  }

  private static func count(_ text: String, _ name: String) throws(Aria2Error) -> Int32 {
    guard let count = Int32(text), count > 0 else {
      throw Aria2Error("\(name): '\(Redaction.argument(text))' is not a number from 1")
    }
    return count
  }

  /// Parses aria2's amounts: a number, perhaps with `K` or `M` for 1,024 and 1,048,576 bytes.
  ///
  /// - Throws: ``Aria2Error``.
  static func byteCount(_ text: String, _ name: String) throws(Aria2Error) -> Int64 {
    let unit: Int64 =
      switch text.last {
      case "K", "k": 1 << 10
      case "M", "m": 1 << 20
      case "G", "g": 1 << 30
      default: 1
      }
    let digits = unit == 1 ? text[...] : text.dropLast()
    let product = Int64(digits).map { $0.multipliedReportingOverflow(by: unit) }
    guard let product, !product.overflow, product.partialValue >= 0 else {
      throw Aria2Error(
        "\(name): '\(Redaction.argument(text))' is not a byte count such as 500K or 2M"
      )
    }
    return product.partialValue
  }
}

extension Aria2Options {
  /// Puts the options into a request.
  ///
  /// - Parameters:
  ///   - request: The request, with its URLs.
  ///   - roots: The folders of the store. A client may choose a folder in them, and no other: whoever
  ///     can write any file of the user can run any program.
  /// - Throws: ``Aria2Error``.
  func apply(to request: inout DownloadRequest, _ roots: Roots) throws(Aria2Error) {
    request.headers = headers
    request.digest = digest ?? request.digest
    request.isPaused = isPaused
    request.connections = connections(urlCount: 1 + request.mirrors.count)
    if let bytesPerSecond {
      request.bytesPerSecond = bytesPerSecond == 0 ? nil : bytesPerSecond
      request.removesRateLimit = bytesPerSecond == 0
    }
    if requiresName { request.collision = .fail }
    if let id { request.id = id }
    var folders = request.folder.isEmpty ? [] : [request.folder]
    if let folder {
      let place = try Self.place(of: folder, roots)
      request.root = place.root
      if !place.folder.isEmpty { folders.insert(place.folder, at: 0) }
    }
    if let name {
      let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      guard let last = parts.last, !last.isEmpty else {
        throw Aria2Error("out: '\(Redaction.argument(name))' is not a file name")
      }
      request.filename = last
      folders += parts.dropLast()
    }
    request.folder = try Self.folder(folders.joined(separator: "/"))
  }

  /// Returns the root and the folder below it of a path.
  ///
  /// - Throws: ``Aria2Error`` for a path outside of the store's folders.
  private static func place(
    of path: String,
    _ roots: Roots
  ) throws(Aria2Error) -> (root: String, folder: String) {
    guard path.hasPrefix("/") else { return (RootName.standard, path) }
    // Without `.` and `..`, which would lead out of a root that begins the path.
    let parts = path.split(separator: "/").filter { $0 != "." }
    guard !parts.contains(".."),
      let place = roots.location(ofFolder: "/" + parts.joined(separator: "/"))
    else {
      throw Aria2Error(
        "dir: '\(Redaction.argument(path))' is in no folder of this store; "
          + "'dlstore root set NAME PATH' adds one"
      )
    }
    return place
  }

  private static func folder(_ path: String) throws(Aria2Error) -> String {
    do {
      return try FileLayout.validatedFolder(path)
    } catch {
      throw Aria2Error(error.message)
    }
  }
}

extension Aria2Options {
  /// Returns the options of a download as `aria2.getOption` does.
  ///
  /// Clients send them back to add the download again. Header fields of which one is a secret are left
  /// out: without any, a known download keeps those that it has.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - headers: Its header fields.
  ///   - folder: The path of its folder.
  /// - Returns: The object.
  static func object(
    of record: DownloadRecord,
    headers: [HeaderField],
    folder: String
  ) -> JSONValue {
    var members: [(String, String)] = [
      ("continue", "true"), ("dir", folder), ("out", record.filename),
      ("max-download-limit", String(record.bytesPerSecond ?? 0)), ("max-upload-limit", "0"),
    ]
    if let connections = record.connections {
      members.append(("max-connection-per-server", String(connections)))
      members.append(("split", String(connections)))
    }
    if let digest = record.expectedDigest.flatMap({ try? Digest($0) }) {
      members.append(("checksum", "\(name(of: digest.algorithm))=\(digest.hexadecimal)"))
    }
    if !headers.contains(where: Redaction.hides) {
      var lines: [String] = []
      for field in headers {
        switch field.name.lowercased() {
        case "referer": members.append(("referer", field.value))
        case "user-agent": members.append(("user-agent", field.value))
        default: lines.append("\(field.name): \(field.value)\n")
        }
      }
      if !lines.isEmpty { members.append(("header", lines.joined())) }
    }
    return .object(
      members.sorted { $0.0 < $1.0 }.map { JSONValue.Member(name: $0.0, value: .string($0.1)) }
    )
  }

  private static func name(of algorithm: Digest.Algorithm) -> String {
    switch algorithm {
    case .md5: "md5"
    case .sha1: "sha-1"
    case .sha256: "sha-256"
    case .sha512: "sha-512"
    }
  }
}
