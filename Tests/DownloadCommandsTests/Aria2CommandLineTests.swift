import ArgumentParser
import DownloadStore
import Testing

@testable import DownloadCommands

/// The command line of aria2c, and its translation.
struct Aria2CommandLineTests {
  private static func plan(_ arguments: String...) throws -> Aria2Plan {
    try plan(arguments)
  }

  private static func plan(
    _ arguments: [String],
    list: [InputFile.Entry] = []
  ) throws -> Aria2Plan {
    try Aria2Plan(try Aria2CommandLine(arguments), list: { _ in list }, home: "/nowhere")
  }

  @Test(arguments: [
    ["-x", "8", "-d", "/srv"], ["-x8", "-d/srv"],
    ["--max-connection-per-server=8", "--dir=/srv"],
    ["--max-connection-per-server", "8", "--dir", "/srv"], ["--max-conn=8", "--dir=/srv"],
  ])
  func `options have one meaning in every form`(options: [String]) throws {
    let line = try Aria2CommandLine(options + ["-s", "16", "http://a/1"])
    #expect(line.value(of: "max-connection-per-server") == "8")
    let plan = try Self.plan(options + ["-s", "16", "http://a/1"])
    #expect(plan.entries.map(\.absoluteFolder) == ["/srv"])
    #expect(plan.entries.map(\.connections) == [8])
  }

  @Test func `a flag takes a value only with an equals sign or beside its letter`() throws {
    let line = try Aria2CommandLine([
      "-c", "http://a/1", "--quiet", "--remote-time=false", "-qfalse",
    ])
    #expect(line.flag("continue") == true)
    #expect(try Aria2CommandLine(["--out=\u{301}x"]).value(of: "out") == "\u{301}x")
    #expect(line.flag("quiet") == false)
    #expect(line.flag("remote-time") == false)
    #expect(line.operands == ["http://a/1"])
    #expect(throws: Aria2CommandLine.Problem.self) { try Aria2CommandLine(["--continue=yes"]) }
  }

  @Test func `words after two dashes are URLs`() throws {
    let line = try Aria2CommandLine(["-q", "--", "http://a/1", "-x"])
    #expect(line.operands == ["http://a/1", "-x"])
  }

  @Test(arguments: [
    "--torrent-file=a", "--enable-rpc", "--check-certificate=false", "--save-session=s",
    "--on-download-complete=cmd", "--conditional-get=true", "--wrong=1", "-y", "--bt", "--dir",
  ])
  func `an option that changes what is downloaded is refused`(option: String) {
    #expect(throws: Aria2CommandLine.Problem.self) { try Aria2CommandLine(["http://a/1", option]) }
  }

  @Test(arguments: [
    "--summary-interval=0", "--console-log-level=warn", "--check-certificate=true", "--no-conf",
    "--enable-rpc=false", "--follow-torrent=mem", "--http-accept-gzip=true", "--bt-tracker=x",
    "--optimize-concurrent-downloads=5:25",
  ])
  func `an option that cannot matter is ignored`(option: String) throws {
    #expect(try Aria2CommandLine(["http://a/1", option]).options.isEmpty)
  }

  @Test(arguments: [
    ("--dirr=x", "did you mean '--dir'?"), ("--nosuch", "unrecognized option '--nosuch'"),
    ("-kabc", "--min-split-size: 'abc' is not a byte count"),
    ("--lowest-speed-limit=abc", "--lowest-speed-limit: 'abc'"),
    ("--all-proxy=ftp://x", "--all-proxy: 'ftp' is not a proxy protocol"),
    ("-xabc", "--max-connection-per-server: it is not a positive number"),
    ("--gid=zz", "--gid: it is not 16"), ("-o..", "--out: must be a file name"),
    ("--checksum=md5=zz", "--checksum: 'md5:zz' is not a digest: it has other characters"),
    ("--checksum=foo=zz", "--checksum: only md5, sha-1"),
    ("--min-tls-version=foo", "--min-tls-version: 'foo' is none of TLSv1"),
  ])
  func `a message about an option names that of aria2`(option: String, message: String) {
    let problem = #expect(throws: Aria2CommandLine.Problem.self) {
      try Self.plan("http://a/1", option)
    }
    #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
    #expect(problem?.message.contains("dlstore") == false)
  }

  @Test(arguments: [
    ["-x", "http://a/1"], ["-q", "-d", "http://a/1"], ["-t", "http://a/1", "-c"],
  ])
  func `a URL in the place of a value is named`(arguments: [String]) {
    let problem = #expect(throws: Aria2CommandLine.Problem.self) { try Self.plan(arguments) }
    #expect(problem?.message.contains("'http://a/1' is the value of --") == true)
  }

  @Test func `no advice names a command of dlstore, or one of its options`() {
    let options = ["dlstore", "--proxy,", "--netrc", "--mirror", "--filename", "--max-attempts"]
    for code in DownloadFailure.Code.allCases {
      for detail in [nil] + DownloadFailure.Detail.allCases {
        let advice = Aria2Advice.text(for: DownloadFailure(code, "x", detail: detail))
        #expect(!advice.isEmpty && !options.contains(where: advice.contains), "\(advice)")
        // Each long option is one of aria2.
        for option in advice.matches(of: /--([a-z0-9-]+)/) {
          #expect(Aria2Option.all[String(option.output.1)] != nil, "\(advice)")
        }
      }
    }
  }

  @Test func `options that scripts pass are translated, or have no effect`() throws {
    let plan = try Self.plan(
      "--optimize-concurrent-downloads",
      "http://a/1",
      "--no-proxy=localhost,b",
      "--header=",
      "-U",
      ""
    )
    #expect(plan.entries.map(\.url) == ["http://a/1"])
    #expect(plan.entries.map(\.headers) == [[]])
    #expect(plan.environment == ["no_proxy": "localhost,b"])
    let documents = try Self.plan("-M", "-", "http://a/1")
    #expect(documents.entries.map(\.isDocument) == [false, true])
    #expect(throws: Aria2CommandLine.Problem.self) {
      try Self.plan("--interface=none-such", "http://a/1")
    }
    #expect(try Self.plan("--interface=127.0.0.1", "http://a/1").limits.contains("127.0.0.1"))
  }

  #if AsyncHTTPClient && os(Linux)
    @Test func `an interface may be given by its name`() throws {
      #expect(try Self.plan("--interface=lo", "http://a/1").limits.contains("127.0.0.1"))
    }
  #endif

  @Test func `several URLs are one file, or with -Z files of their own`() throws {
    let one = try Self.plan("http://a/1", "http://b/1")
    #expect(one.entries.map(\.url) == ["http://a/1"])
    #expect(one.entries.map(\.mirrors) == [["http://b/1"]])
    let two = try Self.plan("-Z", "http://a/1", "http://b/1", "-o", "x")
    #expect(two.entries.map(\.url) == ["http://a/1", "http://b/1"])
    #expect(two.entries.map(\.filename) == [nil, nil])
  }

  @Test func `a blank in a URL is encoded, and a name begins at the folder`() throws {
    let plan = try Self.plan("-d", "/srv", "-o", "/sub//./x", "http://a/b c", "http://b/b c")
    #expect(plan.entries.map(\.url) == ["http://a/b%20c"])
    #expect(plan.entries.map(\.mirrors) == [["http://b/b%20c"]])
    #expect(plan.entries.map(\.filename) == ["x"] && plan.entries.map(\.folder) == ["sub"])
    #expect(try Self.plan(["-i", "list"], list: []).entries.isEmpty)
  }

  @Test func `the number of connections is that of aria2`() throws {
    #expect(try Self.plan("http://a/1").entries.map(\.connections) == [1])
    #expect(try Self.plan("-x4", "http://a/1").entries.map(\.connections) == [4])
    #expect(try Self.plan("-x4", "-s2", "http://a/1").entries.map(\.connections) == [2])
    #expect(
      try Self.plan("-x2", "-s9", "http://a/1", "http://b/1").entries.map(\.connections) == [4]
    )
  }

  @Test func `the command line of yt-dlp is translated`() throws {
    let plan = try Self.plan(
      "--no-conf",
      "--auto-save-interval=10",
      "--console-log-level=warn",
      "--summary-interval=0",
      "--download-result=hide",
      "--http-accept-gzip=true",
      "--file-allocation=none",
      "-x16",
      "-j16",
      "-s16",
      "--min-split-size",
      "1M",
      "--load-cookies=/c",
      "--header",
      "User-Agent: Mozilla",
      "--max-overall-download-limit",
      "50000",
      "--check-certificate=true",
      "--remote-time=true",
      "--show-console-readout=true",
      "--allow-overwrite=true",
      "--always-resume=false",
      "--auto-file-renaming=false",
      "--force-save=false",
      "--dir",
      "./a b/",
      "--out",
      "./x [id].mp4.part",
      "--",
      "https://a/v?x=1"
    )
    let entry = try #require(plan.entries.first)
    #expect(entry.filename == "x [id].mp4.part")
    #expect(entry.absoluteFolder?.hasSuffix("/a b") == true)
    #expect(entry.headers == ["User-Agent: Mozilla"])
    #expect(entry.overwrites && !entry.renames)
    #expect(plan.cookieFile == "/c")
    let words = plan.limits
    for (name, value) in [
      ("--connections", "16"), ("--max-concurrent", "16"), ("--min-split", "1M"),
      ("--preallocate", "none"), ("--limit-rate", "50000"),
    ] {
      let index = try #require(words.firstIndex(of: name))
      #expect(words[index + 1] == value)
    }
    #expect(words.contains("--remote-time"))
    _ = try EngineLimits.parse(words)
  }

  /// Reads a list, as the call does.
  private static func list(_ lines: String...) -> [InputFile.Entry] {
    var parser = InputFileParser(keepsOptions: true)
    var items: [InputFileParser.Item] = []
    for line in lines { parser.parse(.text(line), into: &items) }
    parser.finish(into: &items)
    return items.compactMap { if case .entry(let entry) = $0 { entry } else { nil } }
  }

  @Test func `a list keeps its own options, and gets those of the command line`() throws {
    let plan = try Self.plan(
      ["-i", "list", "-d", "/srv", "-x3", "-o", "other"],
      list: Self.list("http://a/1", " out=name", " pause=true")
    )
    #expect(plan.entries.map(\.isPaused) == [false])
    #expect(plan.entries.map(\.filename) == ["name"])
    #expect(plan.entries.map(\.absoluteFolder) == ["/srv"])
    #expect(plan.entries.map(\.connections) == [3])
    #expect(throws: Aria2CommandLine.Problem.self) { try Self.plan("-q") }
  }

  @Test func `an entry of a list overrides the options that it names, and no others`() throws {
    let plan = try Self.plan(
      [
        "-i", "list", "--header=A: 1", "--header=B: 2", "--referer=http://r/", "--http-user=me",
        "--http-passwd=secret", "--max-download-limit=1K", "--allow-overwrite=true", "-x2", "-s4",
        "--auto-file-renaming=false", "-d", "/srv",
      ],
      list: Self.list(
        "http://a/1",
        " user-agent=x",
        "http://a/2",
        " header=C: 3",
        " header=D: 4",
        "http://a/3",
        " http-user=other",
        " referer=",
        "http://a/4",
        " max-download-limit=0",
        " allow-overwrite=false",
        " auto-file-renaming=true",
        " split=1",
        "http://a/5\thttp://b/5",
        " dir=sub"
      )
    )
    let login = { HeaderField.basic(user: $0, password: "secret") }
    let mine = "Authorization: \(login("me"))"
    #expect(
      plan.entries.prefix(3).map(\.headers) == [
        ["Referer: http://r/", "User-Agent: x", mine, "A: 1", "B: 2"],
        ["Referer: http://r/", mine, "C: 3", "D: 4"],
        ["Authorization: \(login("other"))", "A: 1", "B: 2"],
      ]
    )
    #expect(plan.entries.map(\.bytesPerSecond) == [1_024, 1_024, 1_024, nil, 1_024])
    #expect(plan.entries.map(\.overwrites) == [true, true, true, false, true])
    #expect(plan.entries.map(\.renames) == [false, false, false, true, false])
    // At most two connections to each host.
    #expect(plan.entries.map(\.connections) == [2, 2, 2, 1, 4])
    #expect(plan.entries.map(\.mirrors) == [[], [], [], [], ["http://b/5"]])
    // As in aria2, a relative folder is one of the current folder.
    #expect(plan.entries[4].folder == "sub" && plan.entries[4].absoluteFolder != "/srv")
    #expect(plan.entries.prefix(4).allSatisfy { $0.absoluteFolder == "/srv" })
  }
}
