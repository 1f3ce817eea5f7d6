internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// Options that select records by the URL and the file name.
struct URLFilter: ParsableArguments {
  @Option(
    name: .customLong("match"),
    help: ArgumentHelp(
      "Select downloads whose URL or file name matches the pattern: * ? [a-z] [!a-z].",
      valueName: "glob"
    )
  )
  var pattern: String?

  @Option(
    help: ArgumentHelp(
      "Select downloads whose URL has this host, or one that matches, such as '*.example.com'.",
      valueName: "host[:port]"
    )
  )
  var host: String?

  func validate() throws {
    guard host?.isEmpty != true else {
      throw ValidationError("--host requires the name of a host.")
    }
  }

  /// Whether no option was given.
  var isEmpty: Bool { pattern == nil && host == nil }

  /// The condition of the query; no index serves it.
  var condition: Filter<DownloadRecord> {
    let columns = DownloadRecord.columns
    var condition = Filter<DownloadRecord>.all
    if let pattern {
      let glob = GlobPattern(pattern)
      let fits: @Sendable (String) -> Bool = { glob.matches($0) }
      condition = condition && (columns.url.satisfies(fits) || columns.filename.satisfies(fits))
    }
    if let host {
      let host = HostPattern(host)
      condition = condition && columns.url.satisfies { host.matches(url: $0) }
    }
    return condition
  }

  /// The options as words of a command line.
  var arguments: [String] {
    (pattern.map { ["--match", $0] } ?? []) + (host.map { ["--host", $0] } ?? [])
  }

  /// The options as the user would write them.
  var words: [String] {
    [pattern.map { "--match '\($0)'" }, host.map { "--host '\($0)'" }].compactMap { $0 }
  }
}

/// A host, or a pattern for hosts, in any spelling, with a port or for any port.
struct HostPattern: Sendable {
  private let glob: GlobPattern
  /// The port of a matching URL; `nil` for any.
  private let port: Int?

  /// Parses a host or a pattern, also one followed by `:PORT`, or a URL, whose host counts.
  init(_ text: String) {
    var host = text[...]
    var port: Int?
    if let url = try? RequestURL(text) {
      host = url.host[...]
    } else if let colon = text.lastIndex(of: ":"),
      // The colons of an IPv6 address without brackets are not those of a port.
      !text[..<colon].contains(":") || text[..<colon].hasSuffix("]"),
      let number = UInt16(text[text.index(after: colon)...])
    {
      host = text[..<colon]
      port = Int(number)
    }
    glob = GlobPattern(RequestURL.comparableHost(host))
    self.port = port
  }

  /// Whether the URL has a matching host, and the port if one is given.
  func matches(url: String) -> Bool {
    guard let url = try? RequestURL(url) else { return false }
    guard port == nil || (url.port ?? url.scheme.defaultPort) == port else { return false }
    return glob.matches(RequestURL.comparableHost(url.host))
  }
}
