import CommandTestSupport
import DownloadReports
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What people read about a download that failed.
@Suite(.timeLimit(.minutes(10)))
struct FailureSentenceTests {
  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
  }

  /// The words of the program, its libraries and their source files.
  private static let jargon =
    DownloadFailure.Code.allCases.map { $0.rawValue + "," } + [
      "Error.", "errno", "error set", "NIO", "HTTPClient", "descriptor", "OPENSSL", ".swift",
      "checkouts",
      "::", "(error",
    ]

  private func get(_ url: String, _ options: String...) async throws -> CommandResult {
    let output = ["--output-folder", folder.path("files"), "--transport", "async-http-client"]
    return await dlstore(["--store", store, "get", url] + output + options)
  }

  private func record(_ url: String) throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: url)
  }

  /// The lines of the messages that begin with a word, without the program's name.
  private func lines(_ result: CommandResult, _ word: String) -> [String] {
    result.messages.split(separator: "\n").map { line in
      String(line.trimmingPrefix("dlstore: "))
    }
    .filter { $0.hasPrefix(word) }
  }

  /// A cause of a failure: what the server answers, and the sentence, without the advice.
  struct Cause: Sendable, CustomTestStringConvertible {
    var name: String
    var fault: Fault
    var sentence: String
    var advice = "the same command tries again"

    var testDescription: String { name }
  }

  private static let body = Body.generated(byteCount: 100_000, seed: 1)
  private static let useTLS =
    "if it does, use https://127.0.0.1:PORT/x; otherwise the same command tries again"
  private static let set = "'dlstore set ID --url URL --store STORE'"

  static let causes = [
    Cause(
      name: "401",
      fault: .status(401),
      sentence: "the server requires a valid login (401 Unauthorized)",
      advice: "add the URL again with --netrc or --header 'Authorization: …'"
    ),
    Cause(
      name: "403",
      fault: .status(403),
      sentence: "the server denies access (403 Forbidden)",
      advice: "if the link has expired, \(set) sets a new one"
    ),
    Cause(
      name: "404",
      fault: .status(404),
      sentence: "the server has no such file (404 Not Found)",
      advice: "check the URL: \(set) corrects it"
    ),
    Cause(
      name: "407",
      fault: .status(407),
      sentence: "the proxy requires a valid login (407 Proxy Authentication Required)",
      advice: "give user and password in the URL of --proxy"
    ),
    Cause(
      name: "410",
      fault: .status(410),
      sentence: "the file was removed from the server (410 Gone)",
      advice: "check the URL: \(set) corrects it"
    ),
    Cause(
      name: "400",
      fault: .status(400),
      sentence: "the server rejected the request (400 Bad Request); the port may expect https",
      advice: useTLS
    ),
    Cause(
      name: "416",
      fault: .status(416),
      sentence: "the server rejected a request for all bytes (416 Range Not Satisfiable)",
      advice: "check the URL and the header fields; the same command tries again"
    ),
    Cause(
      name: "405",
      fault: .status(405),
      sentence: "the server rejected the request (405 Method Not Allowed)",
      advice: "check the URL and the header fields; the same command tries again"
    ),
    Cause(
      name: "429",
      fault: .status(429),
      sentence: "the server has received too many requests (429 Too Many Requests)"
    ),
    Cause(
      name: "500",
      fault: .status(500),
      sentence: "the server has failed (500 Internal Server Error)"
    ),
    Cause(
      name: "503",
      fault: .status(503),
      sentence: "the server cannot answer at the moment (503 Service Unavailable)"
    ),
    Cause(
      name: "closed without answer",
      fault: .emptyReply,
      sentence: "SERVER closed the connection without an answer; it may expect https",
      advice: useTLS
    ),
    Cause(
      name: "reset after 20 kB",
      fault: .resetAfter(bytes: 20_000),
      sentence: "SERVER reset the connection"
    ),
    Cause(
      name: "not HTTP",
      fault: .rawResponse("220 ftp.example ready\r\n"),
      sentence: "the answer of SERVER is not HTTP; it may expect https",
      advice: useTLS
    ),
    Cause(
      name: "TLS alert",
      fault: .rawResponse([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]),
      sentence: "the answer of SERVER is not HTTP; it may expect https",
      advice: useTLS
    ),
  ]

  @Test(arguments: causes)
  func `a failure says what happened and what to do`(_ cause: Cause) async throws {
    server.route("/x", Resource(Self.body, faults: cause.fault, then: .repeatLast))
    let result = try await get(server.url("/x"), "--max-attempts", "1")
    #expect(result.status == .failed)
    let record = try record(server.url("/x"))
    let sentence = cause.sentence.replacing("SERVER", with: "127.0.0.1 port \(server.port)")
    let advice = cause.advice.replacing("ID", with: record.id).replacing("STORE", with: store)
      .replacing("PORT", with: "\(server.port)")
    #expect(lines(result, "failed") == ["failed x: \(sentence); \(advice)"])
    #expect(!Self.jargon.contains { result.messages.contains($0) }, "\(result.messages)")
  }

  @Test(arguments: [401, 403])
  func `a netrc or cookie file without an entry for the host is named`(_ status: Int) async throws {
    server.route("/x", Resource(Self.body, faults: .status(status), then: .repeatLast))
    let netrc = try folder.makeFile("netrc", "machine other.example login me password hush\n")
    let result = try await get(server.url("/x"), "--netrc-file", netrc)
    let text = "; \(netrc) has no login for '127.0.0.1'\n"
    #expect(result.messages.contains(text), "\(result.messages)")
    let cookies = try folder.makeFile(
      "cookies",
      "other.example\tFALSE\t/\tFALSE\t0\tname\tvalue\n"
    )
    let second = try await get(server.url("/x"), "--cookie-file", cookies)
    #expect(second.messages.contains("; \(cookies) has no cookie for this URL\n"))
    // One that was sent is not missing.
    let own = try folder.makeFile("own", "machine 127.0.0.1 login me password hush\n")
    let third = try await get(server.url("/x"), "--netrc-file", own)
    #expect(!third.messages.contains("has no login"), "\(third.messages)")
  }

  @Test func `downloads of one name are told apart by their URLs`() async throws {
    server.route("/1/x", Resource(.text("a")))
    server.route("/3/x", Resource(Self.body, faults: .status(404), then: .repeatLast))
    server.route("/4/y", Resource(Self.body, faults: .status(404), then: .repeatLast))
    let urls = ["/1/x", "/2/x", "/3/x"].map(server.url)
    let result = try await get(urls[0], urls[1], urls[2], server.url("/4/y"))
    #expect(
      lines(result, "completed").first?.hasPrefix(
        "completed \(folder.path("files"))/x (\(urls[0])): "
      ) == true
    )
    let failed = lines(result, "failed").map { $0.prefix { $0 != ";" } }.sorted()
    let why = "the server has no such file (404 Not Found)"
    #expect(
      failed == [
        "failed x (2) (\(urls[1])): \(why)", "failed x (3) (\(urls[2])): \(why)",
        "failed y: \(why)",
      ]
    )
    #expect(lines(result, "  x (2)") == ["  x (2) (\(urls[1])): \(why)"])
  }

  @Test func `a server that accepts only Digest is named, with what is supported`() async throws {
    var resource = Resource(Self.body)
    resource.status = 401
    resource.fields = [
      Field("WWW-Authenticate", "Digest realm=\"a, Basic b\", nonce=\"x\", qop=\"auth\"")
    ]
    server.route("/x", resource)
    let result = try await get(server.url("/x"))
    #expect(
      lines(result, "failed") == [
        "failed x: the server accepts only a login with Digest, which is not supported (401 "
          + "Unauthorized); only Basic and Bearer are supported: ask the owner of the server for one "
          + "of them or for a link, or use 'curl --anyauth'"
      ]
    )
  }

  @Test func `a host that does not exist is named, and is asked twice`() async throws {
    let result = try await get("http://no-such-host.invalid/x.iso", "--retry-wait", "1s")
    #expect(result.status == .unreachable)
    let record = try record("http://no-such-host.invalid/x.iso")
    #expect(record.attempts.count == 2)
    #expect(
      lines(result, "failed") == [
        "failed x.iso: there is no host 'no-such-host.invalid' (2 attempts); check the spelling of "
          + "the URL: 'dlstore set \(record.id) --url URL --store \(store)' corrects it"
      ]
    )
    let retry = lines(result, "retrying").first ?? ""
    #expect(retry.contains("there is no host 'no-such-host.invalid'; attempt 2 of 2 "))
  }

  @Test func `a refused connection is tried twice, and others do not wait longer`() async throws {
    let closed = try ClosedPort()
    server.route("/a", Resource(.text("a")))
    let result = try await get(closed.url("/x"), server.url("/a"))
    // The other one is complete.
    #expect(result.status == .failed)
    #expect(try record(closed.url("/x")).attempts.count == 2)
    #expect(try record(server.url("/a")).state == .completed)
    let name = "127.0.0.1 port \(closed.port)"
    #expect(lines(result, "failed").first?.contains("\(name) refused the connection") == true)
    let summary = lines(result, "2 downloads: 1 completed (1 B in ").first ?? ""
    #expect(summary.hasSuffix("), 1 failed:"), "\(result.messages)")
    #expect(lines(result, "  x: ") == ["  x: \(name) refused the connection"])
  }

  @Test func `an http server that is asked for https is named, with the URL to use`() async throws {
    let url = server.url("/x").replacing("http://", with: "")
    let result = try await get("https://\(url)", "--retry-wait", "1ms")
    #expect(result.status == .failed)
    #expect(
      lines(result, "failed") == [
        "failed x: 127.0.0.1 port \(server.port) closed the connection during the TLS handshake; it "
          + "may not speak TLS (2 attempts); if it is an http server, use http://\(url)"
      ]
    )
    let id = try record("https://\(url)").id
    let inspected = await dlstore("--store", store, "inspect", id)
    let advice = "use http://\(url): 'dlstore set \(id) --url URL --store \(store)' changes the URL"
    #expect(inspected.output.contains("waits for a command: if it is an http server, \(advice)"))
  }

  @Test(arguments: [Fault.emptyReply, .rawResponse([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46])])
  func `an https server that is asked for http is named after two attempts`(
    _ fault: Fault
  ) async throws {
    server.route("/x", Resource(Self.body, faults: fault, then: .repeatLast))
    let result = try await get(server.url("/x"), "--retry-wait", "1ms")
    #expect(result.status == .failed)
    #expect(try record(server.url("/x")).attempts.count == 2)
    let line = lines(result, "failed").first ?? ""
    let url = server.url("/x").replacing("http://", with: "https://")
    #expect(line.contains("it may expect https (2 attempts); if it does, use \(url); "), "\(line)")
  }

  @Test func `a redirect to a server that requires a login is named`() async throws {
    let other = try FaultServer()
    var resource = Resource(Self.body)
    resource.redirect = Resource.Redirect(to: other.url("/y"))
    server.route("/x", resource)
    other.route("/y", Resource(Self.body, faults: .status(401), then: .repeatLast))
    let result = try await get(server.url("/x"), "--header", "Authorization: Basic eDp5")
    #expect(
      lines(result, "failed") == [
        "failed x: the server redirects to \(other.url("/y")), which requires a login (401 "
          + "Unauthorized); the login for the first server is not sent there: use that URL with --netrc"
      ]
    )
  }

  @Test(arguments: [
    ("Authorization: Basic eDp5", "login that was"), ("X-Token: y", "header fields that were"),
  ])
  func `a login that the server refuses is told apart from a missing one`(
    _ header: String,
    _ what: String
  ) async throws {
    server.route("/x", Resource(Self.body, faults: .status(401), then: .repeatLast))
    let result = try await get(server.url("/x"), "--header", header)
    #expect(
      lines(result, "failed") == [
        "failed x: the server refuses the \(what) sent (401 Unauthorized); add the URL again with the "
          + "right login or header fields"
      ]
    )
  }

  @Test func `each source of a download says why it has failed`() async throws {
    let closed = try ClosedPort()
    server.route("/x", Resource(Self.body, faults: .status(404), then: .repeatLast))
    let result = try await get(server.url("/x"), "--mirror", closed.url("/y"))
    #expect(result.status == .failed)
    #expect(
      lines(result, "started") == [
        "started x (\(server.url("/x")))", "started x (\(closed.url("/y")))",
        "started x (\(closed.url("/y")))",
      ]
    )
    #expect(
      lines(result, "failed") == [
        "failed x: \(closed.url("/y")): 127.0.0.1 port \(closed.port) refused the connection (3 "
          + "attempts); \(server.url("/x")): the server has no such file (404 Not Found); the same "
          + "command tries again"
      ]
    )
  }

  @Test func `attempts that the user asks for are made`() async throws {
    let closed = try ClosedPort()
    _ = try await get(closed.url("/x"), "--max-attempts", "3")
    #expect(try record(closed.url("/x")).attempts.count == 3)
  }

  @Test func `a server that has answered is tried again, with the number of attempts`() async throws
  {
    server.route("/x", Resource(Self.body, faults: .status(500), .status(500), .status(500)))
    let result = try await get(server.url("/x"))
    #expect(result.status == .done)
    let retries = lines(result, "retrying")
    #expect(retries.count == 3)
    // The wait is random, and a short one is "now".
    for (number, line) in zip(2..., retries) {
      #expect(line.contains("(500 Internal Server Error); attempt \(number) of 8 "), "\(line)")
    }
  }

  @Test func `run says at the first attempt that the host of a new download may be misspelled`()
    async throws
  {
    let url = "http://no-such-host.invalid/x"
    _ = await dlstore("--store", store, "add", url)
    let id = try record(url).id
    let options = ["--until-idle", "--max-attempts", "3", "--retry-wait", "1ms"]
    let result = await dlstore(["--store", store, "run"] + options)
    let retries = lines(result, "retrying")
    #expect(retries.count == 2, "\(result.messages)")
    #expect(
      retries.first?.hasPrefix(
        "retrying x: there is no host 'no-such-host.invalid'; check the spelling of the URL: 'dlstore "
          + "set \(id) --url URL --store \(store)' corrects it; attempt 2 of 3"
      ) == true,
      "\(retries)"
    )
    let second = "retrying x: there is no host 'no-such-host.invalid'; attempt 3 of 3"
    #expect(retries.last?.hasPrefix(second) == true, "\(retries)")
  }

  @Test func `a host that was reached before, and that of a proxy, is not called misspelled`()
    throws
  {
    let request = DownloadRequest(url: "http://h/x")
    let new = try RecordStore(at: store).addNow([request])[0].record
    func advice(
      _ codes: DownloadFailure.Code...,
      detail: DownloadFailure.Detail? = nil,
      received: Int64 = 0
    ) -> String? {
      var record = new
      record.received = received
      record.attempts = codes.map { code in
        let failure = DownloadFailure(code, "what happened", detail: detail)
        return Attempt(at: Date(), url: record.url, failure: failure, received: 0)
      }
      return FailureSentence.advice(beforeRetryOf: record)
    }
    #expect(advice(.cannotFindHost)?.hasPrefix("check the spelling of the URL: ") == true)
    #expect(advice(.cannotFindHost, .cannotFindHost) == advice(.cannotFindHost))
    #expect(advice(.connectionLost, .cannotFindHost) == nil)
    #expect(advice(.cannotFindHost, received: 1) == nil)
    #expect(advice(.cannotFindHost, detail: .proxy) == nil)
    #expect(advice(.cannotConnect) == nil)
  }

  @Test func `a download that waits for its next attempt at an unknown host has the advice`()
    async throws
  {
    let url = "http://h/x"
    let records = try RecordStore(at: store)
    try await records.add([DownloadRequest(url: url)])
    try await records.objects.write { tx in
      guard var record = try tx.find(DownloadRecord.self, key: url) else { return }
      record.state = .failedRetryable
      record.nextRetryAt = Date(timeIntervalSinceNow: 3_600)
      let failure = DownloadFailure(.cannotFindHost, "there is no host 'h'")
      record.attempts = [Attempt(at: Date(), url: url, failure: failure, received: 0)]
      record.failedAttempts = 1
      try tx.upsert(record)
    }
    let record = try record(url)
    let advice = "check the spelling of the URL: 'dlstore set \(record.id) --url URL"
    let shown = await dlstore("--store", store, "inspect", url).output
    #expect(shown.contains("then tries again; \(advice)"), "\(shown)")
    let sentence = StateSentence.text(of: DownloadEntry(record, try records.roots())) ?? ""
    #expect(sentence.hasPrefix("there is no host 'h'; \(advice)"), "\(sentence)")
    #expect(sentence.contains("; tried again not before "), "\(sentence)")
  }

  @Test func `a proxy that cannot be reached is named`() async throws {
    let closed = try ClosedPort()
    let proxy = "http://127.0.0.1:\(closed.port)"
    let refused = try await get(server.url("/x"), "--proxy", proxy)
    #expect(refused.status == .unreachable)
    let text = "the proxy 127.0.0.1 port \(closed.port) refused the connection"
    #expect(
      lines(refused, "failed x: \(text)").first?.contains("check --proxy, or http_proxy") == true
    )
    let unknown = try await get(server.url("/x"), "--proxy", "http://no-proxy.invalid:3128")
    let line = lines(unknown, "failed x: ").first ?? ""
    let host = "failed x: the host 'no-proxy.invalid' of the proxy does not exist (2 attempts); "
    #expect(line.hasPrefix("\(host)check --proxy"), "\(line)")
  }

  @Test(arguments: [
    (Fault.emptyReply, "PEER closed the connection without an answer (2 attempts)", ""),
    (.rawResponse([0x15, 3, 1, 0, 2, 2, 0x46]), "the answer of PEER is not HTTP", ""),
    (.stallBeforeHeader, "PEER sent nothing for 10 s", "--timeout sets the limit; "),
  ])
  func `a proxy that may be the one that does not answer is named`(
    _ fault: Fault,
    _ what: String,
    _ limit: String
  ) async throws {
    server.route("*", Resource(Self.body, faults: fault, then: .repeatLast))
    // Not too short for the connection, and reached in no other case.
    let isSilent = fault == .stallBeforeHeader
    let result = try await get(
      "http://h.example:81/x",
      "--proxy",
      server.url(""),
      "--timeout",
      isSilent ? "10s" : "10m",
      "--retry-wait",
      "1ms",
      "--max-attempts",
      isSilent ? "1" : "2"
    )
    #expect(result.status == .failed)
    let peer = "h.example port 81, or the proxy 127.0.0.1 port \(server.port),"
    let text = what.replacing("PEER", with: peer)
    let line = lines(result, "failed").first ?? ""
    #expect(line.hasPrefix("failed x: \(text)"), "\(line)")
    #expect(line.contains("; \(limit)check --proxy, or http_proxy and https_proxy"), "\(line)")
  }

  @Test(arguments: [
    (DownloadFailure.Detail.otherHostName, "use the name of the certificate in the URL"),
    (.tlsVersion, "--tls-min 1.2 accepts the older version"),
    (.unpinnedKey, "if this is the right key, correct --pinned-key"),
    (.addressFamily, "to use its other addresses, omit --ipv4, --ipv6 and --interface"),
  ])
  func `what the user can correct is not left to the owner of the server`(
    _ detail: DownloadFailure.Detail,
    _ text: String
  ) throws {
    let record = try RecordStore(at: store).addNow([DownloadRequest(url: "https://h/x")])[0].record
    let failure = DownloadFailure(.insecure, "what happened", detail: detail)
    for isRepeatable in [true, false] {
      let advice = FailureSentence.advice(for: failure, record, isRepeatable: isRepeatable)
      #expect(advice.contains(text) && !advice.contains("owner"))
    }
  }

  @Test(arguments: [
    ("[fe80::1]", true), ("[FEBF::1]:8080", true), ("[fec0::1]", false), ("[fe8::1]", false),
    ("[::fe80]", false), ("fe80", false), ("192.0.2.1", false),
  ])
  func `a link-local address that cannot be reached is said to need a zone`(
    _ host: String,
    _ needsZone: Bool
  ) throws {
    let request = DownloadRequest(url: "http://\(host)/x")
    let record = try RecordStore(at: store).addNow([request])[0].record
    for code in [DownloadFailure.Code.cannotConnect, .unsupportedURL] {
      let advice = FailureSentence.advice(for: DownloadFailure(code, "what happened"), record)
      let text =
        "a link-local address needs a zone, such as %eth0, which is not supported: "
        + "'dlstore set \(record.id) --url URL"
      #expect(advice.hasPrefix(text) == needsZone, "\(advice)")
    }
  }

  @Test func `a complete file whose name the disk refuses can have another name`() throws {
    let records = try RecordStore(at: store)
    var record = try records.addNow([DownloadRequest(url: "https://h/a:b")])[0].record
    let failure = DownloadFailure(.fileSystem, "renaming to /usb/a:b: Invalid argument")
    #expect(!FailureSentence.advice(for: failure, record).contains("--filename"))
    record.fileIdentity = FileIdentity(ofFileAt: try folder.makeFile("a.dlstore-part", "x"))
    #expect(record.fileIdentity != nil)
    let advice = FailureSentence.advice(for: failure, record, isRepeatable: true)
    let text = "if its disk does not accept the name, 'dlstore set \(record.id) --filename NAME"
    #expect(advice.hasPrefix(text), "\(advice)")
    #expect(advice.hasSuffix("; the same command tries again"), "\(advice)")
    // Other failures of the file say more.
    let taken = DownloadFailure(nameTaken: "/usb/a:b")
    #expect(!FailureSentence.advice(for: taken, record).contains("accept"))
  }

  @Test func `a resumed attempt says at which byte`() async throws {
    var resource = Resource(Self.body, faults: .resetAfter(bytes: 60_000))
    let gate = Gate()
    resource.endGate = gate
    server.route("/x", resource)
    async let run = get(server.url("/x"))
    // A reset discards bytes that the client has not read.
    while (try? record(server.url("/x")))?.received ?? 0 == 0 {
      try await Task.sleep(for: .milliseconds(5))
    }
    gate.open()
    let result = try await run
    #expect(result.status == .done)
    let retry = lines(result, "retrying").first ?? ""
    #expect(retry.contains("reset the connection; attempt 2 of 8 "), "\(result.messages)")
    #expect(retry.contains(/, from byte [1-9][0-9]*$/))
  }

  @Test(arguments: DownloadFailure.Code.allCases)
  func `each code has advice in plain words`(_ code: DownloadFailure.Code) throws {
    let record = try RecordStore(at: store).addNow([DownloadRequest(url: "https://h/x")])[0].record
    for detail in [nil] + DownloadFailure.Detail.allCases {
      let failure = DownloadFailure(code, "what happened", detail: detail)
      let advice = FailureSentence.advice(for: failure, record)
      #expect(
        advice.contains("'dlstore ") || advice.contains("--") || advice.contains("owner")
          || advice.contains("add the URL again")
      )
      #expect(!advice.hasSuffix(".") && !advice.contains(code.rawValue + ","))
      #expect(advice.first?.isUppercase == false)
      // After `get` no engine runs that would carry out another command.
      let repeated = FailureSentence.advice(for: failure, record, isRepeatable: true)
      #expect(!repeated.contains("resume") && !repeated.contains("restart"))
    }
  }

  @Test func `the advice after another checksum is not about another download of the URL`()
    async throws
  {
    let url = server.url("/x")
    server.route("/x", Resource(Self.body))
    let digests = ["0", "1"].map { "sha256:" + String(repeating: $0, count: 64) }
    let options = ["--paused", "--key", "a", "--checksum", digests[0]]
    _ = await dlstore(["--store", store, "add", url] + options)
    let result = try await get(url, "--key", "b", "--checksum", digests[1])
    #expect(result.status == .failed)
    let keyed = try record("b")
    #expect(keyed.url.hasPrefix("\(url)#sha256=1111"))
    let line = lines(result, "failed ").first ?? ""
    #expect(line.contains("another --key; 'dlstore remove \(keyed.id)"), "\(line)")
    #expect(!line.contains("get URL"))

    var request = DownloadRequest(url: "https://h/x#part")
    request.digest = try Digest(digests[0])
    let plain = try RecordStore(at: store).addNow([request])[0].record
    let failure = DownloadFailure(.digestMismatch, "what happened")
    let advice = FailureSentence.advice(for: failure, plain)
    #expect(advice.contains(#"'dlstore get "https://h/x#part" --checksum ALGORITHM:HEX"#))
  }

  @Test func `a completed download says where it is, how long it took, and whether it is correct`()
    async throws
  {
    server.route("/x", Resource(Self.body))
    let copy = folder.path("copy")
    try Data(Self.body.bytes(at: 0, count: 100_000)).write(to: URL(filePath: copy))
    let digest = try Digest.ofFile(at: copy, .sha256).text
    let result = try await get(server.url("/x"), "--checksum", digest)
    let line = lines(result, "completed").first ?? ""
    #expect(line.hasPrefix("completed \(folder.path("files/x")): 97.7 KiB in "), "\(line)")
    #expect(line.hasSuffix(", sha256 correct"))
  }

  @Test func `add says where the files will be`() async throws {
    let one = await dlstore("--store", store, "add", server.url("/x"))
    let files = "\(store)/files"
    #expect(lines(one, "'") == ["'dlstore run --store \(store)' downloads the file into \(files)"])
    let known = await dlstore("--store", store, "add", server.url("/x"))
    let id = try record(server.url("/x")).id
    #expect(
      lines(known, id) == [
        "\(id): 'x' is known and waiting: 'dlstore run --store \(store)' downloads it into \(files)"
      ]
    )
    let urls = [server.url("/y"), server.url("/z"), "--folder", "sub"]
    let more = await dlstore(["--store", store, "add"] + urls)
    let sentence = "'dlstore run --store \(store)' downloads 2 files into \(files)/sub"
    #expect(lines(more, "'") == [sentence])
  }

  @Test func `add --paused says that the download waits for resume`() async throws {
    let result = await dlstore("--store", store, "add", server.url("/x"), "--paused")
    let id = try record(server.url("/x")).id
    #expect(
      lines(result, "the ") == [
        "the download is paused: 'dlstore resume \(id) --store \(store)' starts it; its file goes "
          + "into \(store)/files"
      ]
    )
    let more = await dlstore(
      "--store",
      store,
      "add",
      server.url("/y"),
      server.url("/z"),
      "--paused"
    )
    let paused = "2 downloads are paused: 'dlstore resume --all --store \(store)' starts them; "
    #expect(more.messages.contains(paused))
    let again = await dlstore("--store", store, "add", server.url("/x"), "--priority", "4")
    #expect(
      lines(again, id) == [
        "\(id): 'x' is known and waiting (it was paused): 'dlstore run --store \(store)' downloads "
          + "it into \(store)/files; applied: priority"
      ]
    )
  }

  @Test func `add of a completed download names its file, and of many their states`() async throws {
    server.route("/x", Resource(Self.body))
    #expect(try await get(server.url("/x")).status == .done)
    let id = try record(server.url("/x")).id
    let known = await dlstore("--store", store, "add", server.url("/x"), "--tag", "t")
    let file = folder.path("files/x")
    #expect(
      lines(known, id) == ["\(id): 'x' is known and completed: \(file); applied: tags"]
    )
    let list = try folder.makeFile(
      "list",
      ([server.url("/x")] + (1...11).map { "http://h.example/\($0)" }).joined(separator: "\n")
    )
    _ = await dlstore("--store", store, "add", "--input-file", list)
    let many = await dlstore("--store", store, "add", "--input-file", list)
    let text = "12 downloads were known (1 completed, 11 waiting); they keep their files"
    #expect(many.messages.contains(text), "\(many.messages)")
  }

  @Test func `run --until-idle of a missing store is an error, and creates none`() async throws {
    let result = await dlstore("--store", store, "run", "--until-idle")
    #expect(result.status == .notFound)
    #expect(result.messages.contains("there is no store here"))
    #expect(!FileManager.default.fileExists(atPath: store))
  }
}
