internal import CommandLineSupport
internal import DownloadAsyncHTTPClient
internal import DownloadStore
internal import DownloadSync
internal import Foundation

/// What a command line of `aria2c` asks for, in the terms of this program.
///
/// A pure translation, but for the paths, which are made absolute.
struct Aria2Plan: Sendable, Equatable {
  /// The downloads, which have absolute folders.
  private(set) var entries: [InputFile.Entry] = []
  /// The command line of the engine: options of `get`, for ``EngineLimits`` and ``DisplayOptions``.
  private(set) var limits: [String] = []
  private(set) var display: [String] = []
  /// Whether only errors are printed, `quiet`.
  var isQuiet: Bool { display.contains("--quiet") }
  /// The file with cookies, `load-cookies`.
  private(set) var cookieFile: String?
  /// The hosts that are reached without a proxy, `no-proxy`.
  private(set) var hostsWithoutProxy: String?
  /// The netrc file: that of `netrc-path`, or `~/.netrc`, if it exists.
  private(set) var netrcFile: String?
  /// The environment variables of the process that downloads.
  var environment: [String: String] { hostsWithoutProxy.map { ["no_proxy": $0] } ?? [:] }
  /// Whether an existing file without a control file is continued, `continue`.
  private(set) var isContinued = false
  /// Whether an earlier, unfinished call is forgotten, `remove-control-file`.
  private(set) var startsOver = false
  /// The path of the list of downloads, `input-file`.
  private(set) var list: String?

  /// The default of `max-concurrent-downloads` in aria2.
  private static let usualDownloads = 5
  /// The most connections of an engine; aria2 has no limit, and system limits are below it.
  private static let mostConnections = 256

  /// Translates a command line.
  ///
  /// - Parameters:
  ///   - line: The command line.
  ///   - read: Reads the list of downloads at a path, which have their options.
  ///   - home: The path of the user's folder.
  /// - Throws: ``Aria2CommandLine/Problem``; the errors of `read`.
  init(
    _ line: Aria2CommandLine,
    list read: (String) throws -> [InputFile.Entry],
    home: String
  ) throws {
    let separate = line.flag("force-sequential") ?? false
    let documents = line.operands.filter(Self.isDocument)
    let urls = line.operands.filter { !Self.isDocument($0) }
    for url in urls where !MetalinkSource.isURL(url) {
      let shown = Redaction.argument(url)
      throw Aria2CommandLine.Problem(message: "'\(shown)' does not begin with https:// or http://")
    }
    var groups = separate ? urls.map { [$0] } : urls.isEmpty ? [] : [urls]
    let first = groups.count
    groups += (documents + (line.value(of: "metalink-file").map { [$0] } ?? [])).map { [$0] }
    for (index, group) in groups.enumerated() {
      var entry = InputFile.Entry(line: 0, url: group[0])
      entry.mirrors = Array(group.dropFirst())
      entry.isDocument = index >= first && !MetalinkSource.isURL(group[0])
      entries.append(try Self.entry(entry, with: line, isListed: groups.count > 1))
    }
    if let path = line.value(of: "input-file") {
      list = path
      for listed in try read(path) {
        var entry = InputFile.Entry(line: listed.line, url: listed.url, mirrors: listed.mirrors)
        entry.isDocument = listed.isDocument
        entries.append(try Self.entry(entry, with: line, isListed: true, listed.options))
      }
    }
    // A list that has been generated may be empty.
    guard !entries.isEmpty || list != nil else {
      throw Aria2CommandLine.Problem(message: Self.withoutURL(line))
    }
    isContinued = line.flag("continue") ?? false
    startsOver = line.flag("remove-control-file") ?? false
    cookieFile = line.value(of: "load-cookies").flatMap { $0.isEmpty ? nil : $0 }
    hostsWithoutProxy = line.value(of: "no-proxy").flatMap { $0.isEmpty ? nil : $0 }
    if line.flag("no-netrc") != true {
      let path = line.value(of: "netrc-path") ?? "\(home)/.netrc"
      netrcFile = FileManager.default.fileExists(atPath: path) ? path : nil
    }
    limits = try Self.limits(of: line, entries)
    // The readout of aria2c is on standard output, which callers may parse; here it is on the terminal.
    if line.flag("quiet") == true { display.append("--quiet") }
    if line.flag("show-console-readout") == false { display.append("--no-progress") }
  }

  /// Says that there is no URL; names an option whose value is one.
  private static func withoutURL(_ line: Aria2CommandLine) -> String {
    let options = line.options.filter { option in
      MetalinkSource.isURL(option.value) && !option.name.hasSuffix("proxy")
        && !["referer", "header"].contains(option.name)
    }
    guard let option = options.last else { return "specify at least one URL" }
    return "specify at least one URL: '\(Redaction.argument(option.value))' is the value of "
      + "--\(option.name), which needs another one"
  }

  private static func isDocument(_ operand: String) -> Bool {
    !MetalinkSource.isURL(operand)
      && [".meta4", ".metalink"].contains { operand.lowercased().hasSuffix($0) }
  }

  /// Applies the options of the command line to a download, and those of its own.
  ///
  /// Its own option takes the place of that of the command line; `header` takes the place of all of them.
  ///
  /// - Parameters:
  ///   - entry: The download without options.
  ///   - line: The command line.
  ///   - isListed: Whether it is one of several, to which `out`, `checksum` and `gid` do not apply.
  ///   - own: The options of a download of a list.
  /// - Returns: The download.
  /// - Throws: ``Aria2CommandLine/Problem``.
  private static func entry(
    _ entry: InputFile.Entry,
    with line: Aria2CommandLine,
    isListed: Bool,
    _ own: [Aria2CommandLine.Given] = []
  ) throws(Aria2CommandLine.Problem) -> InputFile.Entry {
    var entry = entry
    let ownNames = Set(own.map(\.name))
    entry.url = encodingBlanks(entry.url)
    entry.mirrors = entry.mirrors.map(encodingBlanks)
    for option in line.options {
      guard let known = Aria2Option.all[option.name], known.effect == .download else { continue }
      if isListed, ["out", "checksum", "gid"].contains(option.name) { continue }
      if ownNames.contains(option.name) { continue }
      let value =
        switch option.name {
        case "dir": Folder.absolutePath(option.value)
        case "out": Self.filePath(option.value)
        default: String(option.value[...].trimmingBlanks)
        }
      if let problem = entry.take(option.name[...], value[...], line: 0) {
        // Some messages begin with the name, as an input file has it.
        let reason = problem.reason.trimmingPrefix("\(option.name)").trimmingPrefix(":")
        throw Aria2CommandLine.Problem(
          message: "--\(option.name):\(reason.hasPrefix(" ") ? "" : " ")\(reason)"
        )
      }
    }
    // A call that paused a download would end without it. The parser has accepted the others.
    for option in own where option.name != "pause" {
      _ = entry.take(option.name[...], option.value[...], line: entry.line)
    }
    if entry.absoluteFolder == nil { entry.absoluteFolder = Folder.absolutePath(".") }
    if entry.connections == nil, entry.connectionsPerHost == nil {
      // Its defaults: five connections, one of them to a server.
      entry.connectionsPerHost = 1
    }
    if line.flag("http-no-cache") == true {
      entry.headers += ["Cache-Control: no-cache", "Pragma: no-cache"]
    }
    return entry.completed
  }

  /// A URL may contain blanks, which aria2c encodes.
  private static func encodingBlanks(_ url: String) -> String {
    MetalinkSource.isURL(url) ? url.replacing(" ", with: "%20") : url
  }

  /// The path of `out` below the folder, which it begins at also with a leading slash.
  private static func filePath(_ path: String) -> String {
    // A trailing slash leaves no name, which is refused.
    path.hasSuffix("/") ? path : String(path.drop { $0 == "/" })
  }

  /// The options of the engine.
  private static func limits(
    of line: Aria2CommandLine,
    _ entries: [InputFile.Entry]
  ) throws(Aria2CommandLine.Problem) -> [String] {
    var words: [String] = []
    let most = entries.compactMap(\.connections).max() ?? 1
    let connections = min(Int(most), mostConnections)
    let given = try number(line, "max-concurrent-downloads") ?? usualDownloads
    let downloads = min(given, entries.contains(where: \.isDocument) ? given : entries.count)
    let (all, isTooLarge) = max(1, downloads).multipliedReportingOverflow(by: connections)
    let limit = isTooLarge ? mostConnections : min(all, mostConnections)
    words += ["--connections", "\(connections)"]
    words += ["--max-concurrent", "\(limit)", "--per-host", "\(limit)"]
    for (name, option) in [
      ("min-split-size", "--min-split"), ("max-overall-download-limit", "--limit-rate"),
      ("lowest-speed-limit", "--lowest-speed"),
    ] {
      guard let value = line.value(of: name) else { continue }
      guard ByteAmount.parse(value) != nil || value == "0" && name != "min-split-size" else {
        let reason = "'\(value)' is not a byte count such as 500K or 2M"
        throw Aria2CommandLine.Problem(message: "--\(name): \(reason)")
      }
      words += [option, value]
    }
    for (name, option) in [
      ("ca-certificate", "--ca-certificate"), ("certificate", "--client-certificate"),
      ("private-key", "--client-key"),
    ] { if let value = line.value(of: name) { words += [option, value] } }
    if let name = line.value(of: "interface") {
      guard let address = address(ofInterface: name) else {
        throw Aria2CommandLine.Problem(
          message: "--interface: this machine has no interface '\(name)' with an address"
        )
      }
      words += ["--interface", address]
    }
    if let method = line.value(of: "file-allocation") {
      guard
        let word = ["none": "none", "trunc": "sparse", "prealloc": "full", "falloc": "full"][method]
      else { throw Aria2CommandLine.Problem(message: "--file-allocation=\(method) is unknown") }
      words += ["--preallocate", word]
    }
    // 0 is no limit.
    if let tries = try number(line, "max-tries") {
      words += ["--max-attempts", "\(tries == 0 ? Int(Int32.max) : tries)"]
    }
    if let wait = try number(line, "retry-wait"), wait > 0 {
      words += ["--retry-wait", "\(wait)s"]
    }
    let time = try [number(line, "timeout"), number(line, "connect-timeout")].compactMap(\.self)
      .max()
    if let time, time > 0 { words += ["--timeout", "\(time)s"] }
    if let remote = line.flag("remote-time") {
      words.append(remote ? "--remote-time" : "--no-remote-time")
    }
    if line.flag("disable-ipv6") == true { words.append("--ipv4") }
    if let version = line.value(of: "min-tls-version") {
      guard ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"].contains(version) else {
        throw Aria2CommandLine.Problem(
          message: "--min-tls-version: '\(version)' is none of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3"
        )
      }
      // Older versions than 1.2 are never spoken.
      if version == "TLSv1.3" { words += ["--tls-min", "1.3"] }
    }
    if let proxy = try proxy(of: line) { words += ["--proxy", proxy] }
    return words
  }

  /// The address of an interface, which may be given by its name.
  private static func address(ofInterface name: String) -> String? {
    if AddressFamily(ofAddress: name) != nil { return name }
    #if AsyncHTTPClient
      return AsyncHTTPClientTransport.address(ofInterface: name)
    #else
      return nil
    #endif
  }

  private static func number(
    _ line: Aria2CommandLine,
    _ name: String
  ) throws(Aria2CommandLine.Problem) -> Int? {
    guard let text = line.value(of: name) else { return nil }
    guard let number = Int(text), (0...Int(Int32.max)).contains(number) else {
      throw Aria2CommandLine.Problem(message: "--\(name) must be a number")
    }
    return number
  }

  /// The proxy, with the user and the password of their own options.
  private static func proxy(
    of line: Aria2CommandLine
  ) throws(Aria2CommandLine.Problem) -> String? {
    for scheme in ["https", "http", "all"] {
      guard let proxy = line.value(of: "\(scheme)-proxy"), !proxy.isEmpty else { continue }
      let url = proxy.contains("://") ? proxy : "http://\(proxy)"
      do throws(ProxyServer.ParseError) {
        _ = try ProxyServer(url)
      } catch {
        throw Aria2CommandLine.Problem(message: "--\(scheme)-proxy: \(error.message)")
      }
      guard let user = line.value(of: "\(scheme)-proxy-user"), !url.contains("@"),
        let separator = url.firstRange(of: "://")
      else { return url }
      let allowed = CharacterSet.alphanumerics
      let login = [user, line.value(of: "\(scheme)-proxy-passwd") ?? ""]
        .map { $0.addingPercentEncoding(withAllowedCharacters: allowed) ?? $0 }
      return
        "\(url[..<separator.upperBound])\(login.joined(separator: ":"))@\(url[separator.upperBound...])"
    }
    return nil
  }
}
