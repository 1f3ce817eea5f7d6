import ArgumentParser
import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The options and commands that users of curl, wget, aria2c, rclone, git and docker type: each is
/// accepted with the same meaning, or refused with a hint that names what `dlstore` has.
///
/// A command line takes the parser some tenths of a second in a debug build, so options that are
/// accepted share one, and hints are looked up without it; `ForeignWordsTests` covers the way there.
struct FlagsTests {
  private static let get = CommandInfo(of: GetCommand.self)
  private static let commands = CommandInfo(of: DLStoreCommand.self).visibleCommands

  // MARK: Refused options

  /// Options as they are typed, and a part of the hint.
  static let refused: [(typed: String, hint: String)] = [
    // Where the file goes.
    ("-O", "-o NAME"), ("-O x", "-o NAME"), ("-O -", "-o NAME"), ("-Ox", "-o NAME"),
    ("--output-document x", "-o NAME"), ("--remote-name", "default"),
    ("-d x", "--output-folder"), ("-P x", "--output-folder"), ("-d/tmp", "--output-folder"),
    ("--directory-prefix x", "--output-folder"), ("--output-dir x", "--output-folder"),
    // Resuming.
    ("-c", "always resumes"), ("-C -", "always resumes"), ("--continue", "always resumes"),
    ("--continue-at 5", "always resumes"),
    // Connections.
    ("-x 8", "use --connections N"), ("-x16", "use --connections N"), ("-x", "--connections N"),
    ("-s 8", "use --connections N"), ("-s16", "use --connections N"), ("-s", "--quiet"),
    ("--split 8", "--connections"), ("--max-connection-per-server 8", "--connections"),
    ("-x http://p:1", "use --proxy URL"), ("--https-proxy http://p:1", "--proxy"),
    ("-Z", "--max-concurrent"), ("--parallel", "--max-concurrent"),
    ("--transfers 8", "--max-concurrent"), ("-k 1M", "--min-split"), ("-k1M", "--min-split"),
    ("--force-directories", "--folders-from-url"),
    ("--cut-dirs 2", "--cut N"), ("--min-split-size 1M", "--min-split"),
    ("--max-filesize 1M", "--max-file-size"),
    // Certificates.
    ("-k", "--ca-certificate"), ("--insecure", "--ca-certificate"),
    ("--no-check-certificate", "--ca-certificate"), ("--cacert x", "--ca-certificate"),
    ("-E x", "--client-certificate"), ("--cert x", "--client-certificate"),
    ("--private-key x", "--client-key"),
    // What is sent.
    ("-U x", "-A TEXT"), ("-b x", "--cookie-file"), ("--cookie x", "--cookie-file"),
    ("--load-cookies x", "--cookie-file"), ("-u a:b", "--netrc"), ("--user a:b", "--netrc"),
    ("--http-user a", "--netrc"), ("--http-passwd a", "--netrc"), ("--password a", "--netrc"),
    ("-n", "--netrc"),
    // Rates, times and attempts.
    ("--max-download-limit 1M", "--limit-rate"), ("--bwlimit 1M", "--limit-rate"),
    ("--connect-timeout 5", "--timeout"), ("-T 5", "--timeout"), ("-T5", "--timeout"),
    ("-m 5", "no limit of the total time"), ("--max-time 5", "no limit of the total time"),
    ("-t 3", "--max-attempts"), ("-t3", "--max-attempts"), ("--tries 3", "--max-attempts"),
    ("--retry 3", "--max-attempts"), ("--retries 3", "--max-attempts"),
    ("--max-tries 3", "--max-attempts"), ("--retry-delay 3", "--retry-wait"),
    // Files that exist.
    ("-N", "--refresh URL"), ("--timestamping", "--refresh URL"), ("-z x", "--refresh URL"),
    ("--conditional-get", "--refresh URL"), ("--update", "--refresh URL"),
    ("--no-use-server-timestamps", "--no-remote-time"), ("-nc", "--if-exists"),
    ("--no-clobber", "--if-exists"), ("--allow-overwrite", "--if-exists"),
    ("--overwrite", "--if-exists"), ("--force", "--if-exists"),
    // Without a download.
    ("-I", "use --dry-run"), ("--head", "use --dry-run"), ("--simulate", "use --dry-run"),
    // What is the default.
    ("-L", "default"), ("-f", "default"), ("--fail", "default"), ("--location", "default"),
    ("-sS", "--quiet"), ("--silent", "--quiet"), ("-S", "always shown"),
    ("-fsSL", "-f -L: this is the default; no option is needed. -s: use --quiet"),
    ("-LO", "-O: use -o NAME"),
    // Others.
    ("--inet4-only", "--ipv4"), ("--force-ipv6", "--ipv6"), ("--bind-address x", "--interface"),
    ("--tlsv1.3", "--tls-min 1.3"), ("--json", "--json-events"), ("-V", "--version"),
    ("-w", "list --watch"), ("--watch", "list --watch"), ("--no-verbose", "--quiet"),
    ("--wait=1", "does not wait"), ("--progress=bar", "--no-progress"), ("-OJ", "-o NAME"),
    ("-nd", "default"), ("--exec x", "--on-complete"), ("-#", "--no-progress"),
    ("--file-allocation none", "--preallocate"), ("--lowest-speed-limit 1K", "--lowest-speed"),
    ("-N 4", "use --connections N"), ("-w 3", "does not wait"), ("-a x", "2>> FILE"),
    ("-b", "in the background"), ("-c jar", "--cookie-file FILE"), ("-m", "does not follow links"),
    ("-N", "get --refresh URL"), ("--no-overwrites", "--if-exists"), ("-X POST", "GET"),
    ("-r", "does not follow links"),
  ]

  @Test func `each option of another program that get does not have gets a hint`() {
    let own = Set(Self.get.arguments?.flatMap(\.spellings) ?? [])
    #expect(own.contains("--output-folder"))
    for (typed, expected) in Self.refused {
      let words = typed.split(separator: " ").map(String.init)
      #expect(!own.contains(words[0]), "get has \(words[0])")
      let arguments = ["get", "http://h/x"] + words
      let unknown = UnknownOptions(arguments, DLStoreCommand.scan(arguments))
      // The parser is slow, and whether a command works is tested elsewhere.
      let line = unknown.line(other: { _ in nil }, isCommand: { _ in false })
      #expect(line?.contains(expected) == true, "\(typed): \(line ?? "no hint")")
    }
  }

  @Test func `each hint names options that exist`() {
    let own = Set(Self.commands.flatMap { $0.arguments ?? [] }.flatMap(\.spellings))
    for (name, option) in ForeignOption.all {
      let hint = option.hint
      #expect(
        option.words?.allSatisfy { !$0.hasPrefix("-") || own.contains($0) } ?? true,
        "\(name)"
      )
      for word in hint.split(whereSeparator: { " ;.,':".contains($0) }) where word.hasPrefix("-") {
        #expect(own.contains(String(word)), "\(name): \(hint)")
      }
      #expect(!hint.hasSuffix("."), "\(name): the full stop is added")
    }
  }

  // MARK: Values that are attached to short options

  @Test func `a value may be attached to a short option`() {
    func separated(_ words: String...) -> [String] {
      DLStoreCommand.scan(words).separatingValues(in: words)
    }
    #expect(separated("get", "u", "-j2") == ["get", "u", "-j", "2"])
    #expect(separated("get", "-oname.bin", "-HA: b") == ["get", "-o", "name.bin", "-H", "A: b"])
    // Not a value of another option, a flag, an assignment, or a word after the end of the options.
    for words in [
      ["get", "-H", "-j2"], ["get", "--tag", "-j2", "u"], ["get", "-qv"], ["get", "-o=x"],
      ["get", "--", "-j2"], ["--store", "-j2", "get"], ["-j2"], ["list", "-j2"],
      ["get", "-j", "-o1"],
    ] {
      #expect(DLStoreCommand.scan(words).separatingValues(in: words) == words)
    }
  }

  @Test(
    arguments: [
      (["get", "http://h/x", "-xhttp://p:1"], "-x: use --proxy URL."),
      (["get", "-khq", "http://h/x"], "-k: "), (["list", "-xh"], "-x: "),
    ]
  )
  func `an unknown short option with a value is an error, and no request for help`(
    _ words: [String],
    _ message: String
  ) throws {
    let option = try #require(DLStoreCommand.scan(words).unknownShortOption(in: words))
    #expect(option == message.prefix(2))
    let error = ValidationError("Unknown option '\(option)'")
    let text = DLStoreCommand.text(ofParserError: error, words)
    #expect(text.contains("Unknown option '\(option)': \(message.dropFirst(4))"), "\(text)")
  }

  @Test func `a known short option with a value is no unknown one`() {
    for words in [
      ["get", "-j2", "u"], ["get", "-qv", "u"], ["get", "-H", "-xh", "u"], ["get", "--", "-xh"],
      ["get", "--priority", "-15", "u"], ["get", "-h"], ["get", "-vh"],
    ] {
      #expect(DLStoreCommand.scan(words).unknownShortOption(in: words) == nil, "\(words)")
    }
  }

  @Test func `values of wget's recursion are not taken for others`() {
    for words in ["-A *.bin", "-H http://h/y"] {
      #expect(throws: (any Error).self) { try get(words) }
    }
  }

  // MARK: Accepted options

  private func get(_ words: String) throws -> GetCommand {
    try GetCommand.parse(["http://h/x"] + shellWords(words))
  }

  @Test func `options that get has in common with other programs have the same meaning`() throws {
    let digest = String(repeating: "0", count: 64)
    let one = try get(
      "-o sub/x -H 'A: b' -A agent -e http://r/ -j 5 --connections 8 --dir d --limit-rate 1MiB "
        + "--timeout 5 --retry-wait 500ms --checksum=sha-256=\(digest) -q --proxy http://p:1 "
        + "--max-attempts 3 --mirror http://m/x"
    )
    #expect(one.what.place?.folder == "sub" && one.what.place?.name == "x")
    #expect(one.what.headers == ["A: b"] && one.what.identity.userAgent == "agent")
    #expect(one.what.referer == "http://r/" && one.what.mirrors == ["http://m/x"])
    #expect(one.limits.concurrency.maximumRunning == 5 && one.limits.connections == 8)
    #expect(one.limits.concurrency.maximumPerHost == 8)
    #expect(one.outputFolder == "d" && one.limits.limitRate == 1 << 20)
    #expect(one.limits.client.timeout.duration == .seconds(5))
    #expect(one.limits.retryWait.duration == .milliseconds(500) && one.limits.maxAttempts == 3)
    let usual = try EngineLimits.parse([])
    let count = usual.engineOptions.retry.maximumAttempts
    #expect(usual.firstContactAttempts == 2 && usual.longestAwaitedServerWait == .seconds(600))
    // Also the default is a number that the user has chosen.
    let given = try EngineLimits.parse(["--max-attempts", "\(count)"])
    #expect(given.firstContactAttempts == nil && given.longestAwaitedServerWait == nil)
    #expect(given.engineOptions.retry.maximumAttempts == count)
    #expect(
      try one.what.checksums.map(Digest.init) == [Digest("sha256:\(digest)")] && one.display.quiet
    )
    let two = try get("--output /abs/x --limit-rate 1.5M --timeout 2m --retry-wait 5")
    #expect(two.what.place?.root == "/abs" && two.what.place?.name == "x")
    #expect(two.limits.limitRate == 3 << 19 && two.limits.retryWait.duration == .seconds(5))
    #expect(two.limits.client.timeout.duration == .seconds(120))
    let three = try get("--out x --user-agent a --referer http://r/ --limit-rate 0")
    #expect(three.what.place?.name == "x" && three.limits.limitRate == 0)
    let four = try GetCommand.parse(["-i", "-", "--limit-rate", "none"])
    #expect(four.what.inputFile == "-" && four.limits.limitRate == 0)
    #expect(try get("--limit-rate 1MB").limits.limitRate == 1 << 20)
  }

  @Test func `-o - names no file, and excludes events on standard output`() throws {
    let piped = try get("-o -")
    #expect(piped.what.writesOutput && piped.what.place == nil)
    let error = #expect(throws: (any Error).self) { try get("-o - --json-events") }
    let message = error.map { GetCommand.message(for: $0) } ?? ""
    #expect(message.contains("standard output"), "\(message)")
  }

  @Test func `options of lists and selections have the same meaning`() throws {
    #expect(try ListCommand.parse(["-q"]).display.quiet)
    #expect(try ListCommand.parse(["--json"]).display.output.format == .json)
    #expect(try PauseCommand.parse(["--state", "waiting"]).targets.selection.isFiltered)
    #expect(try PauseCommand.parse(["--match", "*.x"]).targets.selection.isFiltered)
    let run = try RunCommand.parse(["--until-idle", "--tag", "nightly", "-j", "2"])
    #expect(run.tags == ["nightly"] && run.limits.concurrency.maximumRunning == 2)
  }

  // MARK: Commands

  @Test func `commands of other programs are accepted, or get a hint`() {
    func named(_ word: String) -> String? {
      DLStoreCommand.configuration.subcommands.first { type in
        type.configuration.commandName == word || type.configuration.aliases.contains(word)
      }?.configuration.commandName
    }
    let accepted = [
      "ls": "list", "status": "list", "rm": "remove", "show": "inspect", "retry": "retry",
    ]
    for (word, command) in accepted { #expect(named(word) == command) }
    let hints = [
      "info": "'inspect'", "ps": "'list'", "top": "'list --watch'", "watch": "'list --watch'",
      "start": "'resume'", "stop": "'pause'", "log": "'inspect'", "update": "'set'",
      "download": "'get'", "delete": "'remove'", "version": "'--version'",
    ]
    for (word, hint) in hints {
      #expect(named(word) == nil)
      #expect(ForeignWords.hint(forCommand: word)?.contains(hint) == true, "\(word)")
    }
  }

  @Test func `a word that is no name says which option selects`() async throws {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    _ = await dlstore("--store", store, "add", "http://h/x")
    let all = await dlstore("--store", store, "pause", "all")
    #expect(all.status == .failed && all.messages.contains("--all selects all downloads"))
    let failed = await dlstore("--store", store, "list", "failed")
    #expect(failed.status == .failed && failed.messages.contains("--state failed selects"))
  }

  // MARK: URLs with several names

  @Test(arguments: [
    ("http://h/[1-3].bin", "[1-3]"), ("http://h/{a,b}.bin", "{a,b}"), ("h.x/[a-z]", "[a-z]"),
    ("http://h/[001-100:2]", "[001-100:2]"), ("http://[fe80::1]/x", nil), ("http://h/[x]", nil),
    ("http://h/{x}", nil), ("http://h/a-b", nil),
  ])
  func `a part that curl would expand is found`(url: String, part: String?) {
    #expect(URLText.glob(in: url) == part)
  }

  @Test func `a URL with a part that curl would expand is requested as it is, with a message`()
    async throws
  {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    let added = await dlstore("--store", store, "add", "http://h/[1-3].bin")
    #expect(added.status == .done && added.messages.contains("[1-3] is not expanded"))
    #expect(added.output.contains("[1-3].bin"))
  }

  // MARK: Documentation

  @Test func `docs/cli.md has the table of the short options`() {
    #expect(
      DocumentedPage("cli.md").text.contains(ShortOption.markdown),
      "docs/cli.md must contain:\n\(ShortOption.markdown)"
    )
    #expect(ShortOption.all.map(\.name) == ShortOption.all.map(\.name).sorted(by: Self.isBefore))
  }

  @Test func `the table says which short options are accepted`() {
    let own = Set(Self.get.arguments?.flatMap(\.spellings) ?? [])
    for option in ShortOption.all {
      switch option.answer {
      case .accepted: #expect(own.contains(option.name), "\(option.name)")
      case .hint: #expect(!own.contains(option.name), "\(option.name)")
      }
      #expect(Set([option.curl, option.wget, option.aria2c]).count > 1, "\(option.name)")
    }
  }

  /// By the letter, the lower case first.
  private static func isBefore(_ left: String, _ right: String) -> Bool {
    (left.lowercased(), right) < (right.lowercased(), left)
  }
}
