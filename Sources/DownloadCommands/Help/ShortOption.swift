/// A short option to which curl, wget and aria2c give different meanings, or `dlstore` another one.
///
/// `dlstore` accepts it if the programs that download a given URL with it agree, or if the other
/// meaning belongs to something that `dlstore` does not do (decision 0088). The table in docs/cli.md
/// is ``markdown``.
struct ShortOption: Sendable {
  /// What `dlstore` does with the option.
  enum Answer: Sendable, Hashable {
    /// Accepts it, with this meaning.
    case accepted(String)
    /// Refuses it, with this hint.
    case hint(String)
  }

  /// The option with its dash.
  let name: String
  /// The meaning for each program; empty if the program does not have the option.
  let curl, wget, aria2c: String
  let answer: Answer

  private init(_ name: String, _ curl: String, _ wget: String, _ aria2c: String, _ answer: Answer) {
    (self.name, self.curl, self.wget, self.aria2c, self.answer) = (name, curl, wget, aria2c, answer)
  }

  /// The options in alphabetical order.
  static let all = [
    Self("-A", "user agent", "files of a recursion", "", .accepted("user agent")),
    Self(
      "-b",
      "cookies",
      "run in the background",
      "",
      .hint("use --cookie-file FILE; \(background)")
    ),
    Self(
      "-c",
      "cookie jar",
      "continue",
      "continue",
      .hint("\(always); cookies are read with --cookie-file FILE")
    ),
    Self("-d", "data to send", "debug output", "folder", .hint(folder)),
    Self("-e", "referer", "a command of .wgetrc", "", .accepted("referer; only a URL")),
    Self(
      "-E",
      "client certificate",
      "add an extension",
      "",
      .hint("use --client-certificate FILE")
    ),
    Self("-H", "header field", "other hosts of a recursion", "", .accepted("header field")),
    Self("-i", "headers in the output", "input file", "input file", .accepted("input file")),
    Self("-I", "head only", "folders of a recursion", "", .hint(withoutDownload)),
    Self(
      "-j",
      "drop session cookies",
      "",
      "concurrent downloads",
      .accepted("concurrent downloads")
    ),
    Self(
      "-k",
      "trust any certificate",
      "convert links",
      "shortest range",
      .hint("name the certificate to trust with --ca-certificate FILE, or use --min-split BYTES")
    ),
    Self("-L", "follow redirects", "relative links only", "", .hint(isDefault)),
    Self(
      "-m",
      "total time",
      "mirror a site",
      "attempts",
      .hint(
        "there is no limit of the total time; --timeout limits the time without data, "
          + "--max-attempts the attempts; \(links)"
      )
    ),
    Self("-n", "read .netrc", "", "do not read .netrc", .hint("use --netrc or --no-netrc")),
    Self("-N", "no buffer", "only newer files", "", .hint(newer)),
    Self("-o", "output file", "log file", "output file", .accepted("output file")),
    Self("-O", "the server's name", "output file", "file of a torrent", .hint(fileName)),
    Self("-P", "FTP port", "folder", "several URLs in one", .hint(folder)),
    Self("-q", "no .curlrc", "quiet", "quiet", .accepted("quiet")),
    Self(
      "-R",
      "time of the server",
      "rejected files",
      "time of the server",
      .accepted("time of the server")
    ),
    Self("-s", "silent", "", "connections", .hint("use --quiet, or --connections N")),
    Self("-S", "show errors", "show headers", "files of a torrent", .hint(showsErrors)),
    Self(
      "-t",
      "telnet option",
      "attempts",
      "time-out",
      .hint("use --max-attempts N, or --timeout")
    ),
    Self("-T", "upload", "time-out", "torrent file", .hint("use --timeout DURATION")),
    Self("-u", "login", "", "upload limit", .hint(login)),
    Self(
      "-U",
      "login of the proxy",
      "user agent",
      "user agent",
      .hint("use -A TEXT, or --proxy URL for a proxy")
    ),
    Self("-v", "verbose", "verbose", "version", .accepted("verbose")),
    Self("-V", "version", "version", "check digests", .hint("use --version")),
    Self(
      "-x",
      "proxy",
      "make folders",
      "connections",
      .hint("use --connections N, --folders-from-url, or --proxy URL")
    ),
    Self("-Z", "in parallel", "", "one after the other", .hint("use --max-concurrent N")),
  ]

  /// The hints of refused options by their names.
  static let hints = Dictionary(
    uniqueKeysWithValues: all.compactMap { option -> (String, String)? in
      guard case .hint(let hint) = option.answer else { return nil }
      return (option.name, hint)
    }
  )

  // MARK: Hints that long options have, too

  static let always = "a download always resumes; no option is needed"
  static let folder = "use --output-folder FOLDER, or --folder FOLDER below it"
  static let isDefault = "this is the default; no option is needed"
  static let showsErrors = "errors are always shown; no option is needed"
  static let login = "use --netrc, or --header 'Authorization: …'"
  static let fileName = "use -o NAME; the server's name is the default"
  static let newer =
    "'dlstore get --refresh URL' downloads a file again if the server has a newer one"
  static let background = "'dlstore add' and 'dlstore run' download in the background"
  static let links = "dlstore does not follow links; use --input-file FILE"
  static let withoutDownload = "use --dry-run"

  /// The table of docs/cli.md.
  static var markdown: String {
    let rows = all.map { option in
      let here =
        switch option.answer {
        case .accepted(let meaning): meaning
        case .hint(let hint): "hint: \(hint)"
        }
      let cells = ["`\(option.name)`", option.curl, option.wget, option.aria2c, here]
      return "| \(cells.joined(separator: " | ")) |".replacing("|  |", with: "| |")
    }
    return (["| option | curl | wget | aria2c | `dlstore` |", "|---|---|---|---|---|"] + rows)
      .joined(separator: "\n")
  }
}
