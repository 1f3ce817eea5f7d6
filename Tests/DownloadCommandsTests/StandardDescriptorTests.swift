import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

/// The built program with closed or unwritable standard descriptors.
@Suite(.timeLimit(.minutes(10)))
struct StandardDescriptorTests {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func run(
    _ shell: String
  ) async throws -> (status: Int32, output: String, messages: String) {
    try await DLStoreProcess.run(store: store, in: folder.path, shell: shell)
  }

  private var urls: [String] {
    get throws {
      try RecordStore(at: store, access: .readOnly).records(DownloadRecord.all).map(\.url)
    }
  }

  @Test(arguments: ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"])
  func `closed standard descriptors keep no command from its work`(closed: String) async throws {
    #expect(try await run("dlstore add http://h/1 \(closed)").status == 0)
    #expect(try urls == ["http://h/1"])
    // The work of this one is its output.
    let hasOutput = !closed.split(separator: " ").contains(">&-")
    #expect(try await run("dlstore list \(closed)").status == (hasOutput ? 0 : 74))
    #expect(try await run("dlstore pause http://h/1 \(closed)").status == 0)
    #expect(try await run("dlstore purge --state paused --yes \(closed)").status == 0)
    #expect(try urls == [])
    #expect(try await run("dlstore list --sort nonsense \(closed)").status == 64)
    #expect(try await run("dlstore verify-nothing \(closed)").status == 64)
  }

  @Test(arguments: [
    "", "list", "ls --format json", "inspect http://h/1", "stats", "verify", "verify --json",
    "limit", "export", "export -o -", "config", "reconcile", "migrate --status", "root list",
    "explain --rules", "store models", "remove --dry-run http://h/1", "verify-file http://h/1",
    "refresh --all --dry-run", "--help", "--version", "help add", "help --all", "add --help",
    "aria2c --version", "--server http://127.0.0.1:1 list",
  ])
  func `a command whose result is its output refuses a closed one, once`(
    command: String
  ) async throws {
    #expect(try await run("dlstore add http://h/1").status == 0)
    let result = try await run("dlstore \(command) >&-")
    // An I/O error has another code in aria2c.
    let isOfAria2 = command.hasPrefix("aria2c")
    #expect(isOfAria2 ? result.status != 0 : result.status == 74, "\(result.status)")
    #expect(result.messages == "dlstore: standard output is closed\n")
    #expect(try await run("dlstore \(command) <&- > /dev/null 2>&-").status != 74)
  }

  @Test(arguments: [
    "export -o out", "backup out", "verify --repair", "reconcile --apply", "migrate", "limit 2M",
    "run --until-idle --tag none",
  ])
  func `a command that only reports goes on without standard output`(
    command: String
  ) async throws {
    #expect(try await run("dlstore add http://h/1").status == 0)
    let open = try await run("dlstore \(command) > /dev/null")
    _ = try await run("rm -rf out")
    let closed = try await run("dlstore \(command) >&-")
    #expect(closed.status == open.status && closed.status != 74, "\(closed.messages)")
    #expect(closed.messages == open.messages)
  }

  #if os(Linux)
    @Test(arguments: ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
    func `no file of the store becomes a standard descriptor`(closed: String) async throws {
      let process = try DLStoreProcess(
        [],
        store: store,
        in: folder.path,
        shell: "exec dlstore run \(closed)"
      )
      defer { process.send(SIGKILL) }
      let supervisor = process.id
      var worker: pid_t?
      try await process.wait {
        worker = Self.child(of: supervisor)
        return worker.map { Self.files(of: $0).values.contains { $0.hasSuffix("data.mdb") } }
          ?? false
      }
      for id in [supervisor, try #require(worker)] {
        let files = Self.files(of: id)
        for (number, redirection) in [(0, "<&-"), (1, ">&-"), (2, "2>&-")] {
          let parts = closed.split(separator: " ")
          guard parts.contains(Substring(redirection)) else { continue }
          #expect(files[number] == "/dev/null")
        }
        for number in 0...2 {
          #expect(files[number]?.hasPrefix(store) == false, "\(files)")
          #expect(files[number]?.hasPrefix("/") == true, "\(files)")
        }
      }
      process.send(SIGTERM)
      // The status is 143 if the signal arrives before it is handled.
      #expect([0, 143].contains(try await process.status()))
    }

    private static func child(of parent: pid_t) -> pid_t? {
      let path = "/proc/\(parent)/task/\(parent)/children"
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      return text.split(separator: " ").first.flatMap { pid_t($0) }
    }

    private static func files(of process: pid_t) -> [Int: String] {
      let folder = "/proc/\(process)/fd"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.reduce(into: [:]) { files, name in
        guard let number = Int(name) else { return }
        files[number] = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "\(folder)/\(name)"
        )
      }
    }
  #endif

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs /dev/full"))
  func `output that cannot be written exits with 74`() async throws {
    #expect(try await run("dlstore add http://h/1").status == 0)
    #expect(try await run("dlstore list > /dev/full").status == 74)
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs /dev/full"),
    arguments: [
      "add http://h/2", "pause http://h/1", "set http://h/1 --priority 3", "cancel http://h/1",
      "remove http://h/1", "reconcile --apply",
    ]
  )
  func `a change whose report cannot be written is reported as made`(
    command: String
  ) async throws {
    #expect(try await run("dlstore add http://h/1").status == 0)
    let result = try await run("dlstore \(command) > /dev/full")
    #expect(result.status == 74)
    #expect(result.messages.contains("the change was made"), "\(result.messages)")
    if command.hasPrefix("add") { #expect(try urls.contains("http://h/2")) }
    if command.hasPrefix("remove") { #expect(try urls == []) }
  }
}
