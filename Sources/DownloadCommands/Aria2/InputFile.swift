internal import CommandLineSupport
internal import DownloadStore
internal import Foundation

/// A list of downloads: one URL per line, or aria2's input file and session format.
///
/// Further URLs on a line, separated by tabs, are mirrors of the first. A line that begins with a
/// blank is an option of the URL above it. Lines that begin with `#` are comments.
struct InputFile: Sendable, Equatable {
  /// One download.
  struct Entry: Sendable, Equatable {
    var line: Int
    var url: String
    var mirrors: [String] = []
    var filename: String?
    /// A folder below the root.
    var folder: String?
    /// The absolute path of `dir`.
    var absoluteFolder: String?
    var checksum: String?
    /// The rate limit in bytes per second.
    var bytesPerSecond: Int64?
    /// The number of connections.
    ///
    /// `split`, within `max-connection-per-server` for each host.
    var connections: Int32?
    /// `max-connection-per-server`, until the last option is read.
    var connectionsPerHost: Int32?
    /// Header fields, each as `Name: value`.
    var headers: [String] = []
    /// The id, as 16 hexadecimal digits.
    var gid: String?
    var isPaused = false
    /// Whether an existing file is replaced, `allow-overwrite`.
    var overwrites = false
    /// The line of `auto-file-renaming=false`; `nil` without it.
    var keepsNameLine: Int?
    /// Whether a new file gets another name if its name is taken, `auto-file-renaming`.
    var renames: Bool { keepsNameLine == nil }
    /// Whether `allow-overwrite` was read.
    var hasOverwriteOption = false
    /// Whether ``url`` is the path or the URL of a Metalink document, whose files are the downloads.
    var isDocument = false
    /// The value of `referer`, and then that of `user-agent`, until the last option is read.
    var referer: String?
    var userAgent: String?
    /// The name and the password of `http-user` and `http-passwd`, until the last option is read.
    var user: String?
    var password: String?
    /// The folder in `out`, below that in `dir`, until the last option is read.
    var outFolder: String?
    /// The options that were read, for a reader that combines them with others.
    var options: [Aria2CommandLine.Given] = []
  }

  /// A line or option that cannot be used.
  struct Problem: Sendable, Equatable {
    var line: Int
    var message: String
    /// Whether the whole download is skipped, and not only an option.
    var isFatal = false
    /// The name of an option that is not supported.
    var option: String?
    /// Whether an option has a value of a wrong form.
    var isBadValue = false

    /// The message without the consequence, for a command that does not skip anything.
    var reason: String { String(message.trimmingPrefix("skipped ")) }
  }

  private(set) var entries: [Entry] = []
  /// The problems, in the order of their lines; an option that is not supported is listed once, at
  /// its first line.
  private(set) var problems: [Problem] = []

  /// Reads a whole file, or standard input for `-`.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - keepsOptions: Whether entries have their ``Entry/options``.
  /// - Throws: ``CommandFailure``.
  init(_ path: String, keepsOptions: Bool = false) throws {
    var lines = try LineReader(path)
    var parser = InputFileParser(keepsOptions: keepsOptions)
    var items: [InputFileParser.Item] = []
    while let line = try lines.next() { parser.parse(line, into: &items) }
    parser.finish(into: &items)
    for item in items {
      switch item {
      case .entry(let entry): entries.append(entry)
      case .problem(let problem): problems.append(problem)
      }
    }
    problems.sort { $0.line < $1.line }
  }
}

extension InputFile.Entry {
  /// What is done if the file name is taken; `nil` if no option says it.
  var collision: NameCollision? { hasOverwriteOption ? (overwrites ? .replace : .number) : nil }

  /// The entry, with the options that depend on others applied.
  var completed: Self {
    var entry = self
    let folders = [folder, outFolder].compactMap { $0 }
    entry.folder = folders.isEmpty ? nil : folders.joined(separator: "/")
    entry.headers = fieldsOfOptions + headers
    if let perHost = connectionsPerHost {
      let hosts = Set(([url] + mirrors).map { RecordIdentity.origin(of: $0) })
      let (most, isTooLarge) = perHost.multipliedReportingOverflow(by: Int32(hosts.count))
      entry.connections = min(connections ?? Self.usualSplit, isTooLarge ? .max : most)
    }
    (entry.outFolder, entry.user, entry.password) = (nil, nil, nil)
    (entry.referer, entry.userAgent) = (nil, nil)
    entry.connectionsPerHost = nil
    return entry
  }

  /// The header fields of the options that no `header` replaces, as in aria2; an empty option has none.
  private var fieldsOfOptions: [String] {
    var fields = [("Referer", referer), ("User-Agent", userAgent)]
    if user != nil || password != nil {
      fields.append(("Authorization", HeaderField.basic(user: user, password: password)))
    }
    let given = Set(headers.map { $0.prefix { $0 != ":" }.lowercased() })
    return fields.compactMap { name, value in
      guard let value, !value.isEmpty, !given.contains(name.lowercased()) else { return nil }
      return "\(name): \(value)"
    }
  }

  /// The default of `split` in aria2.
  private static let usualSplit: Int32 = 5

  /// Applies an option `name=value`; returns the problem if it cannot be used.
  mutating func take(
    option: Substring,
    line: Int,
    isKept: Bool = false
  ) -> InputFile.Problem? {
    // The line may be a secret, such as a header field without its `header=`.
    // Bytes, not characters: an equals sign and a following combining mark are one character.
    guard let equals = option.utf8.firstIndex(of: UInt8(ascii: "=")),
      InputFileParser.isOptionName(option[..<equals].trimmingBlanks)
    else {
      return InputFile.Problem(
        line: line,
        message: "skipped a line that is not an option of the form name=value"
      )
    }
    let name = option[..<equals].trimmingBlanks
    let value = option[option.utf8.index(after: equals)...].trimmingBlanks
    let problem = take(name, value, line: line)
    if isKept, problem == nil { options.append(.init(name: String(name), value: String(value))) }
    return problem
  }

  /// Applies an option; returns the problem if it cannot be used.
  mutating func take(_ name: Substring, _ value: Substring, line: Int) -> InputFile.Problem? {
    switch name {
    case "out": return take(out: value, line)
    case "dir": return take(dir: value, line)
    case "checksum": return take(checksum: value, line)
    case "gid": return take(gid: value, line)
    case "pause": isPaused = value == "true"
    case "max-download-limit": return take(limit: value, line)
    case "split", "max-connection-per-server": return take(connections: value, of: name, line)
    case "allow-overwrite": (overwrites, hasOverwriteOption) = (value == "true", true)
    case "auto-file-renaming": keepsNameLine = value == "false" ? line : nil
    case "header": if !value.isEmpty { headers.append(String(value)) }
    // With `*`, aria2 sends the URL itself.
    case "referer": referer = String(value == "*" ? url[...] : value)
    case "user-agent": userAgent = String(value)
    case "http-user": user = String(value)
    case "http-passwd": password = String(value)
    case _ where Aria2Option.isWithoutEffect(name, value): return nil
    default:
      return InputFileParser.unsupportedOption(String(name), line)
    }
    return nil
  }

  private mutating func take(checksum value: Substring, _ line: Int) -> InputFile.Problem? {
    let type = value.prefix { $0 != "=" }.lowercased()
    guard ["md5", "sha-1", "sha-256", "sha-512"].contains(type) else {
      return InputFile.Problem(
        line: line,
        message: "skipped checksum: only md5, sha-1, sha-256 and sha-512 are supported",
        isBadValue: true
      )
    }
    do throws(RecordStoreError) {
      let digest = try Digest(String(value))
      let earlier = try checksum.map { text throws(RecordStoreError) in try Digest(text) }
      let strongest = try Digest.strongest(of: [earlier, digest].compactMap { $0 })
      if strongest == digest { checksum = String(value) }
    } catch {
      return InputFile.Problem(line: line, message: error.message, isFatal: true, isBadValue: true)
    }
    return nil
  }

  private mutating func take(limit value: Substring, _ line: Int) -> InputFile.Problem? {
    // In aria2, 0 is no limit.
    if value == "0" {
      bytesPerSecond = nil
      return nil
    }
    guard let limit = ByteAmount.parse(String(value)) else {
      return InputFile.Problem(
        line: line,
        message: "skipped max-download-limit: it is not a byte count such as 500K or 2M",
        isBadValue: true
      )
    }
    bytesPerSecond = limit
    return nil
  }

  private mutating func take(
    connections value: Substring,
    of name: Substring,
    _ line: Int
  ) -> InputFile.Problem? {
    guard let count = try? ConnectionCount.parse(String(value)) else {
      return InputFile.Problem(
        line: line,
        message: "skipped \(name): it is not a positive number",
        isBadValue: true
      )
    }
    if name == "split" { connections = count } else { connectionsPerHost = count }
    return nil
  }

  private mutating func take(gid value: Substring, _ line: Int) -> InputFile.Problem? {
    let gid = value.lowercased()
    guard RecordIdentity.isID(gid) else {
      return InputFile.Problem(
        line: line,
        message: "skipped gid: it is not 16 hexadecimal digits",
        isBadValue: true
      )
    }
    self.gid = gid
    return nil
  }

  private mutating func take(out value: Substring, _ line: Int) -> InputFile.Problem? {
    // yt-dlp writes `./NAME`.
    let parts = Folder.components(of: value).filter { $0 != "." }.map(String.init)
    let slash = UInt8(ascii: "/")
    guard let name = parts.last, value.utf8.first != slash, value.utf8.last != slash, value != ".",
      !value.hasSuffix("/."), parts.allSatisfy(FileName.isPlain)
    else {
      return InputFile.Problem(
        line: line,
        message: "out must be a file name that does not lead out of the folder",
        isFatal: true
      )
    }
    filename = name
    outFolder = parts.count > 1 ? parts.dropLast().joined(separator: "/") : nil
    return nil
  }

  private mutating func take(dir value: Substring, _ line: Int) -> InputFile.Problem? {
    guard !value.hasPrefix("~") else {
      return InputFile.Problem(
        line: line,
        message: "skipped dir: '~' is not expanded; write the absolute path"
      )
    }
    guard !Folder.components(of: value).contains("..") else {
      return InputFile.Problem(
        line: line,
        message: "dir leads out of the folder",
        isFatal: true
      )
    }
    if value.utf8.first == UInt8(ascii: "/") {
      (absoluteFolder, folder) = (String(value), nil)
    } else {
      (absoluteFolder, folder) = (nil, String(value))
    }
    return nil
  }
}

extension Substring {
  /// The text without leading and trailing blanks and tabs.
  var trimmingBlanks: Substring {
    // Blanks are compared as bytes: one with a combining mark is another Character.
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    guard let start = utf8.firstIndex(where: { !isBlank($0) }),
      let last = utf8.lastIndex(where: { !isBlank($0) })
    else { return self[endIndex...] }
    return self[start..<utf8.index(after: last)]
  }
}
