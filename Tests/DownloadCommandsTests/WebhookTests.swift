import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `--webhook` of the built program, and a server that receives the records.
@Suite(.timeLimit(.minutes(10)))
struct WebhookTests {
  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
    server.route("/a", Resource(.text("body")))
  }

  private var pending: Int {
    get throws {
      let store = try RecordStore(at: store, access: .readOnly)
      return try DownloadHook.allCases.reduce(0) { try $0 + store.records(awaiting: $1).count }
    }
  }

  /// The marks of the download.
  private var marks: Set<DownloadHook> {
    get throws {
      let store = try RecordStore(at: store, access: .readOnly)
      return try store.record(matching: server.url("/a")).pendingHooks
    }
  }

  private func run(_ arguments: [String]) async throws -> (status: Int32, messages: String) {
    let process = try DLStoreProcess(arguments, store: store, in: folder.path)
    return (try await process.status(), process.messages)
  }

  private var commandRuns: Int {
    let text = try? String(contentsOfFile: folder.path("ran"), encoding: .utf8)
    return text?.split(separator: "\n").count ?? 0
  }

  #if AsyncHTTPClient
    @Test func `a receiver that refuses twice gets the record again, under the same key`()
      async throws
    {
      let receiver = try await Receiver(in: folder, answers: ["503", "302"])
      let process = try DLStoreProcess(
        ["get", server.url("/a"), "--webhook", receiver.url, "--on-complete", "echo x >> ran"],
        store: store,
        in: folder.path
      )
      #expect(try await process.status() == 0, "\(process.messages)")
      let posts = try receiver.posts
      #expect(posts.count == 3 && Set(posts.map(\.key)).count == 1)
      let record = try RecordStore(at: store, access: .readOnly).record(matching: server.url("/a"))
      #expect(posts.last?.key == record.endKey && posts.last?.event == "complete")
      let json = try #require(
        try JSONSerialization.jsonObject(with: Data(posts[2].body.utf8)) as? [String: Any]
      )
      #expect(json["id"] as? String == record.id && json["state"] as? String == "completed")
      // The path may be the credential.
      let shown = receiver.url.replacing("/hook", with: "/…")
      #expect(process.messages.contains("\(shown) answered with the status 503"))
      #expect(!process.messages.contains(receiver.url))
      #expect(
        try String(contentsOfFile: folder.path("ran"), encoding: .utf8) == "x\n",
        "the command is not repeated with the webhook"
      )
      #expect(try pending == 0)
    }

    @Test func `a run with a command only leaves the post that has failed to one with a webhook`()
      async throws
    {
      let refusals = Array(repeating: "500", count: HookQueue.maximumAttempts)
      let receiver = try await Receiver(in: folder, answers: refusals)
      let command = ["--on-complete", "echo x >> ran"]
      let webhook = ["--webhook", receiver.url]
      let first = try await run(["get", server.url("/a")] + command + webhook)
      #expect(first.status == 1, "\(first.messages)")
      let advice = "answered with the status 500; 'dlstore run --webhook URL"
      #expect(first.messages.contains(advice), "\(first.messages)")
      #expect(try commandRuns == 1 && receiver.posts.count == refusals.count)
      #expect(try marks == [.completionWebhook])
      let other = try await run(["run", "--until-idle"] + command)
      #expect(other.status == 0, "\(other.messages)")
      #expect(try commandRuns == 1 && receiver.posts.count == refusals.count)
      #expect(try marks == [.completionWebhook])
      let last = try await run(["run", "--until-idle"] + webhook)
      #expect(last.status == 0, "\(last.messages)")
      let posts = try receiver.posts
      #expect(posts.count == refusals.count + 1 && Set(posts.map(\.key)).count == 1)
      #expect(commandRuns == 1)
      #expect(try pending == 0)
    }

    @Test(arguments: [("/a", "--on-complete", "complete"), ("/missing", "--on-error", "error")])
    func `a command that fails keeps no post, and a run with a webhook only leaves it`(
      path: String,
      option: String,
      event: String
    ) async throws {
      let receiver = try await Receiver(in: folder)
      let webhook = ["--webhook", receiver.url]
      let process = try DLStoreProcess(
        ["get", server.url(path), option, "exit 3"] + webhook,
        store: store,
        in: folder.path
      )
      // The mark of the command is left once that of the webhook is cleared.
      try await process.wait { (try? receiver.posts.isEmpty) == false && (try? pending) == 1 }
      process.send(SIGINT)
      _ = try await process.status()
      #expect(process.messages.contains("\(option) failed for"), "\(process.messages)")
      let other = try await run(["run", "--until-idle"] + webhook)
      #expect(other.status == 0, "\(other.messages)")
      #expect(try receiver.posts.map(\.event) == [event])
      #expect(try pending == 1)
      let last = try await run(["run", "--until-idle", option, "echo $DLSTORE_EVENT >> ran"])
      #expect(last.status == 0, "\(last.messages)")
      #expect(try String(contentsOfFile: folder.path("ran"), encoding: .utf8) == "\(event)\n")
      #expect(try receiver.posts.count == 1 && pending == 0)
    }

    @Test func `a kill between the end and the post loses no record`() async throws {
      let receiver = try await Receiver(in: folder, holdsAnswers: true)
      let killed = try DLStoreProcess(
        ["get", server.url("/a"), "--webhook", receiver.url],
        store: store,
        in: folder.path
      )
      // On a busy machine the process may have given up and posted again before this sees the first.
      try await killed.wait { (try? receiver.posts.isEmpty) == false }
      try await killed.kill(withWorkerOn: store)
      #expect(try pending == 1)
      let before = try receiver.posts.count
      try receiver.release()
      let process = try DLStoreProcess(
        ["run", "--until-idle", "--webhook", receiver.url],
        store: store,
        in: folder.path
      )
      #expect(try await process.status() == 0, "\(process.messages)")
      let posts = try receiver.posts
      #expect(posts.count > before && Set(posts.map(\.key)).count == 1)
      #expect(try pending == 0)
    }

    @Test func `a receiver accepts a record with its status and the user of its URL`() async throws
    {
      let receiver = try await Receiver(in: folder, answers: ["open"])
      let hook = receiver.url.replacing("http://", with: "http://hook:word@")
      let process = try DLStoreProcess(
        ["get", server.url("/a"), "--webhook", hook],
        store: store,
        in: folder.path
      )
      // The body of the answer never ends.
      #expect(try await process.status() == 0, "\(process.messages)")
      #expect(try receiver.posts.map(\.login) == ["Basic aG9vazp3b3Jk"])
      #expect(try pending == 0)
    }

    @Test(arguments: ["get", "run"])
    func `a proxy that the webhook cannot use is a usage error, and nothing is stored`(
      _ command: String
    ) async throws {
      let arguments =
        command == "get" ? [server.url("/a")] : ["--output-folder", folder.path("new")]
      let result = await dlstore(
        ["--store", store, command] + arguments + [
          "--webhook", "https://h.invalid/secret",
          "--proxy", "https://me:s3cret@h.invalid", "--transport", "urlsession",
        ]
      )
      #expect(result.status == .usage, "\(result.messages)")
      #if os(Linux)
        #expect(result.messages.contains("--webhook: async-http-client, which posts to it"))
      #endif
      #expect(!result.messages.contains("s3cret") && !result.messages.contains("/secret"))
      #expect(!FileManager.default.fileExists(atPath: store))
      #expect(!FileManager.default.fileExists(atPath: folder.path("new")))
    }

    @Test func `a permanent failure is posted as an error`() async throws {
      let receiver = try await Receiver(in: folder)
      let process = try DLStoreProcess(
        ["get", server.url("/missing"), "--webhook", receiver.url],
        store: store,
        in: folder.path
      )
      #expect(try await process.status() == 1)
      #expect(try receiver.posts.map(\.event) == ["error"])
    }
  #endif
}

/// A web server in Python that notes the posts that it gets.
private final class Receiver: Sendable {
  struct Post: Decodable {
    var key: String
    var event: String
    var body: String
    var login: String?
  }

  let url: String
  private let log: String
  private let process: Process

  /// Starts a server that answers with some statuses, and then with 204.
  ///
  /// If it holds the answers, it answers only after ``release()``. The answer `open` is 200 with a body
  /// that does not end.
  init(
    in folder: TemporaryFolder,
    answers: [String] = [],
    holdsAnswers: Bool = false
  ) async throws {
    log = folder.path("posts")
    if holdsAnswers { try Data().write(to: URL(filePath: log + ".held")) }
    let port = folder.path("port")
    let program = """
      import http.server, json, os, sys, time
      log, place, answers = sys.argv[1], sys.argv[2], sys.argv[3:]
      class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
          body = self.rfile.read(int(self.headers["Content-Length"])).decode()
          with open(log, "a") as file:
            file.write(json.dumps({"key": self.headers["Idempotency-Key"],
                                   "event": self.headers["Dlstore-Event"], "body": body,
                                   "login": self.headers["Authorization"]}) + "\\n")
          while os.path.exists(log + ".held"): time.sleep(0.1)
          answer = answers.pop(0) if answers else "204"
          self.send_response(200 if answer == "open" else int(answer))
          self.send_header("Content-Length", "9" if answer == "open" else "0")
          self.end_headers()
          if answer == "open":
            self.wfile.write(b"x")
            time.sleep(600)
        def log_message(self, *arguments): pass
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      server.daemon_threads = True
      with open(place + ".new", "w") as file: file.write(str(server.server_port))
      os.rename(place + ".new", place)
      server.serve_forever()
      """
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", program, log, port] + answers
    // It must not keep the output of the tests open.
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    while !FileManager.default.fileExists(atPath: port) {
      try await Task.sleep(for: .milliseconds(10))
    }
    url = "http://127.0.0.1:\(try String(contentsOfFile: port, encoding: .utf8))/hook"
  }

  deinit { kill(process.processIdentifier, SIGKILL) }

  /// Lets the server answer.
  func release() throws { try FileManager.default.removeItem(atPath: log + ".held") }

  /// The posts so far.
  var posts: [Post] {
    get throws {
      guard let text = try? String(contentsOfFile: log, encoding: .utf8) else { return [] }
      return try text.split(separator: "\n").map {
        try JSONDecoder().decode(Post.self, from: Data($0.utf8))
      }
    }
  }
}
