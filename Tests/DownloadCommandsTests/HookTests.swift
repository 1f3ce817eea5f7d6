import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `--on-complete` and `--on-error` of the built program.
@Suite(.timeLimit(.minutes(10)))
struct HookTests {
  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
  }

  private func run(_ arguments: String...) async throws -> (status: Int32, messages: String) {
    let process = try DLStoreProcess(arguments, store: store, in: folder.path)
    return (try await process.status(), process.messages)
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: folder.path(name), encoding: .utf8)
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.path(name))
  }

  private var pending: Int {
    get throws {
      let store = try RecordStore(at: store, access: .readOnly)
      return try DownloadHook.allCases.reduce(0) { try $0 + store.records(awaiting: $1).count }
    }
  }

  @Test func `on-complete receives the record, and no name reaches a shell`() async throws {
    var resource = Resource(.text("body"))
    resource.fields = [
      Field("Content-Disposition", "attachment; filename=\"$(touch hacked);`id`.txt\"")
    ]
    server.route("/a", resource)
    let command = "cat > json; env | grep ^DLSTORE_ | sort > env; cat \"$DLSTORE_PATH\" > copy"
    let result = try await run("get", server.url("/a"), "--on-complete", command)
    #expect(result.status == 0, "\(result.messages)")
    let json = try JSONSerialization.jsonObject(with: Data(try text("json").utf8)) as? [String: Any]
    let record = try RecordStore(at: store, access: .readOnly).record(matching: server.url("/a"))
    #expect(json?["id"] as? String == record.id && json?["state"] as? String == "completed")
    #expect(json?["localPath"] as? String == folder.path(record.filename))
    #expect(try text("copy") == "body" && !exists("hacked"))
    // The harness sets three more.
    let harness = ["DLSTORE_CONFIG=", "DLSTORE_TIMEOUT=", "DLSTORE_LOWEST_SPEED_TIME="]
    let lines = try text("env").split(separator: "\n").map(String.init)
      .filter { line in !harness.contains(where: line.hasPrefix) }
    #expect(
      lines == [
        "DLSTORE_EVENT=complete", "DLSTORE_ID=\(record.id)",
        "DLSTORE_KEY=\(record.endKey)",
        "DLSTORE_PATH=\(folder.path(record.filename))", "DLSTORE_STORE=\(store)",
      ],
      "a command that runs dlstore is not a worker"
    )
    #expect(try pending == 0)
  }

  #if os(Linux)
    @Test func `a hook receives no value of an option or of the configuration file`() async throws {
      // Nothing is sent to the proxy: the exception covers the server.
      let file = try folder.makeFile("c.json", #"{"proxy": "http://me:hush1@127.0.0.1:1"}"#)
      server.route("/a", Resource(.text("body")))
      for (name, arguments) in [
        ("option", ["--proxy", "http://me:hush2@127.0.0.1:1"]), ("file", ["--config", file]),
      ] {
        let process = try DLStoreProcess(
          ["get", server.url("/a"), "-o", name, "--on-complete", "env > \(name).env"] + arguments,
          store: folder.path("store-\(name)"),
          in: folder.path,
          environment: [
            "no_proxy": "127.0.0.1", "http_proxy": "http://own:1", "HTTPS_PROXY": "http://upper:1",
          ]
        )
        #expect(try await process.status() == 0, "\(process.messages)")
        let environment = try text("\(name).env")
        #expect(!environment.contains("hush") && !environment.contains("DLSTORE_WORKER"))
        #expect(!environment.contains("DLSTORE_PROXY") && !environment.contains("https_proxy"))
        // The user's own values are as they were.
        #expect(environment.split(separator: "\n").contains("http_proxy=http://own:1"))
        #expect(environment.split(separator: "\n").contains("HTTPS_PROXY=http://upper:1"))
      }
    }
  #endif

  @Test func `on-error runs for a permanent failure only`() async throws {
    server.route("/a", Resource(.text("a")))
    let result = try await run(
      "get",
      server.url("/a"),
      server.url("/missing"),
      "--on-error",
      "cat >> errors",
      "--on-complete",
      "cat >> ends"
    )
    #expect(result.status == 1)
    #expect(try text("errors").contains("\"code\":\"notFound\""))
    #expect(try text("errors").split(separator: "\n").count == 1)
    #expect(try text("ends").split(separator: "\n").count == 1)
    #expect(try pending == 0)
  }

  @Test func `a hook that fails is repeated, and the download is not`() async throws {
    server.route("/a", Resource(.text("a")))
    let result = try await run(
      "get",
      server.url("/a"),
      "--on-complete",
      "echo \"$DLSTORE_KEY\" >> keys; [ $(wc -l < keys) = 2 ]"
    )
    #expect(result.status == 0)
    let failure = "--on-complete failed for a: the command exited with 1; attempt 2 of 5 in 1 s"
    #expect(result.messages.contains(failure), "\(result.messages)")
    let keys = try text("keys").split(separator: "\n")
    #expect(keys.count == 2 && Set(keys).count == 1)
    #expect(server.requests.count == 1)
  }

  @Test func `a run without hooks leaves no marks`() async throws {
    server.route("/a", Resource(.text("a")))
    #expect(try await run("get", server.url("/a"), server.url("/missing")).status == 1)
    #expect(try pending == 0)
    let later = try await run("run", "--until-idle", "--on-complete", "touch late")
    #expect(later.status == 0 && !exists("late"))
  }

  @Test func `a stop leaves the mark of a hook that is running`() async throws {
    server.route("/a", Resource(.text("a")))
    let process = try DLStoreProcess(
      [
        "get", server.url("/a"),
        // If the stop is noticed late, the command is repeated, and is not given up before it.
        "--on-complete",
        "touch begun; until [ -e go ]; do sleep 0.02; done; mkdir again && exit 1; exec sleep 600",
      ],
      store: store,
      in: folder.path
    )
    try await process.wait { exists("begun") }
    process.send(SIGINT)
    _ = try folder.makeFile("go", "")
    #expect(try await process.status() == 130)
    #expect(try pending == 1)
    let key = try RecordStore(at: store, access: .readOnly).record(matching: server.url("/a"))
    #expect(try await run("run", "--until-idle", "--on-complete", "cat > json").status == 0)
    #expect(try text("json").contains(key.id))
    #expect(try pending == 0)
  }

  @Test func `get runs its download again that a command has restarted`() async throws {
    server.route("/a", Resource(.text("body")))
    let program = try DLStoreProcess.program.path
    let command =
      "[ -e once ] || { touch once; \(program) --store \"$DLSTORE_STORE\" restart $DLSTORE_ID; }"
    let result = try await run("get", server.url("/a"), "--on-complete", command)
    #expect(result.status == 0, "\(result.messages)")
    #expect(server.requests.count { $0.path == "/a" } == 2)
    #expect(try pending == 0)
  }

  @Test func `a failure that a command of run has mended is none at the end`() async throws {
    server.route("/a", Resource(.text("a")))
    server.route("/b", Resource(.text("b"), faults: .status(404)))
    #expect(try await run("add", server.url("/a"), server.url("/b")).status == 0)
    let program = try DLStoreProcess.program.path
    let command = "\(program) --store \"$DLSTORE_STORE\" retry $DLSTORE_ID"
    let result = try await run("run", "--until-idle", "--on-error", command)
    #expect(result.status == 0, "\(result.messages)")
    #expect(result.messages.contains("2 completed") && result.messages.contains(" 0 failed"))
    #expect(server.requests.count { $0.path == "/b" } == 2)
    // What stays failed still counts.
    server.route("/c", Resource(.text("c"), faults: .status(404), then: .repeatLast))
    #expect(try await run("add", server.url("/c")).status == 0)
    #expect(try await run("run", "--until-idle", "--on-error", "true").status == 1)
  }

  @Test func `a command that hangs keeps no other get, and is not run beside itself`() async throws
  {
    for path in ["/a", "/b"] { server.route(path, Resource(.text(path))) }
    let first = try DLStoreProcess(
      [
        "get", server.url("/a"),
        "--on-complete", "touch begun; until [ -e go ]; do sleep 0.02; done",
      ],
      store: store,
      in: folder.path
    )
    try await first.wait { exists("begun") }
    let other = try await run("get", server.url("/b"), "--on-complete", "touch other")
    #expect(other.status == 0 && exists("other"), "\(other.messages)")
    let repetition = try DLStoreProcess(
      ["run", "--until-idle", "--on-complete", "touch beside"],
      store: store,
      in: folder.path
    )
    try await repetition.wait {
      !repetition.isRunning || EngineLock.holderForAll(storePath: store) != nil
    }
    #expect(!exists("beside"))
    _ = try folder.makeFile("go", "")
    #expect(try await first.status() == 0)
    #expect(try await repetition.status() == 0)
    #expect(!exists("beside"))
    #expect(try pending == 0)
  }

  #if os(Linux)
    /// The supervisor restarts a worker that crashes, and a later run repeats the hook after a kill.
    @Test(arguments: [SIGSEGV, SIGKILL])
    func `a hook that was running at a crash or kill is not repeated beside itself`(
      signal: Int32
    ) async throws {
      server.route("/a", Resource(.text("a")))
      let hook = """
        trap '' TERM HUP INT
        if [ -e first ]; then
          state=$(grep '^State:' /proc/$(cut -d" " -f1 first)/status 2>/dev/null)
          case $state in '' | *Z*) ;; *) touch beside ;; esac
          touch again
          exit 0
        fi
        echo $$ $PPID > new; mv new first
        sleep 300 & wait; wait; sleep 300
        """
      let process = try DLStoreProcess(
        ["get", server.url("/a"), "--on-complete", hook],
        store: store,
        in: folder.path
      )
      try await process.wait { exists("first") }
      let ids = try text("first").split { !$0.isNumber }.compactMap { pid_t($0) }
      try #require(ids.count == 2)
      let (leader, worker) = (ids[0], ids[1])
      if signal == SIGKILL {
        process.send(SIGKILL)
        _ = try await process.status()
        try await process.wait { !isRunning(leader) }
      } else {
        kill(worker, signal)
        #expect(try await process.status() == 0, "\(process.messages)")
      }
      if !exists("again") {
        #expect(try await run("run", "--until-idle", "--on-complete", hook).status == 0)
      }
      #expect(exists("again") && !exists("beside"))
      #expect(!isRunning(leader))
      #expect(try pending == 0)
    }
  #endif

  @Test(arguments: ["", "; sleep 1"])
  func `a run until idle includes downloads that a command adds or restarts`(
    end: String
  )
    async throws
  {
    for path in ["/a", "/b", "/c"] { server.route(path, Resource(.text(path))) }
    let program = try DLStoreProcess.program.path
    #expect(try await run("add", server.url("/a")).status == 0)
    #expect(try await run("add", server.url("/b"), "--paused").status == 0)
    let command = """
      case "$DLSTORE_PATH" in
      */a) \(program) resume \(server.url("/b")) >/dev/null;;
      */b) \(program) add \(server.url("/c")) >/dev/null;;
      */c) touch last;;
      esac\(end)
      """
    let result = try await run("run", "--until-idle", "--on-complete", command)
    #expect(result.status == 0, "\(result.messages)")
    let records = try RecordStore(at: store, access: .readOnly).records()
    #expect(records.map(\.state) == [.completed, .completed, .completed])
    #expect(try exists("last") && pending == 0)
  }
}
