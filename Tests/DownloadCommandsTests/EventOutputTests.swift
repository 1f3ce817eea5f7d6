import CommandTestSupport
import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import Logging
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The messages and events of `get` and `run`, printed by the built program.
@Suite(.timeLimit(.minutes(10)))
struct EventOutputTests {
  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
    let body = Body.generated(byteCount: 100_000, seed: 1)
    server.route("/a", Resource(body, faults: .resetAfter(bytes: 60_000)))
    server.route("/b", Resource(redirectTo: "/a?token=hush"))
  }

  private func get(_ options: String...) async throws -> DLStoreProcess {
    let urls = ["/a?token=hush", "/none"].map(server.url)
    let process = try DLStoreProcess(["get"] + urls + options, store: store, in: folder.path)
    #expect(try await process.status() == 1)
    return process
  }

  @Test func `JSON events have the documented keys and the redacted URL`() async throws {
    let process = try await get("--json-events", "--quiet")
    let events = try process.output.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    let record = ["displayURL", "event", "expected", "filename", "folder", "id", "received"]
    let more = [
      "started": ["offset"], "retrying": ["error", "waitSeconds"], "failed": ["error"],
      "completed": [],
    ]
    for (name, keys) in more {
      let found = events.filter { $0["event"] as? String == name }
      #expect(!found.isEmpty, "\(name)")
      for event in found {
        #expect(event.keys.sorted() == (record + keys + ["time", "url"]).sorted())
      }
    }
    let last = try #require(events.last)
    #expect(
      last.keys.sorted() == ["completed", "copied", "event", "failed", "time", "unchanged"]
    )
    #expect(last["completed"] as? Int == 1 && last["failed"] as? Int == 1)
    #expect(events.contains { $0["displayURL"] as? String == server.url("/a?token=•••") })
    // In JSON `url` is exact, because it is the key.
    let rest = process.output.replacing("\"url\":\"\(server.url("/a?token=hush"))\"", with: "")
    #expect(!rest.contains("hush"))
    #expect(process.messages.split(separator: "\n").count == 1)
  }

  @Test func `progress, restarts and lost events have their keys`() {
    func keys(_ value: JSONValue) -> [String] {
      guard case .object(let members) = value else { return [] }
      return members.map(\.name)
    }
    let progress = DownloadProgress(
      recordID: "1",
      url: "http://a/?token=hush",
      filename: "a",
      state: .running,
      received: 5,
      expected: nil,
      bytesPerSecond: .infinity
    )
    let value = EventJSON.value(of: progress)
    #expect(
      keys(value) == [
        "bytesPerSecond", "connections", "displayURL", "event", "expected", "filename", "id",
        "ranges", "received", "time", "url",
      ]
    )
    #expect(value.text.contains("\"displayURL\":\"http://a/?token=•••\""))
    #expect(value.text.contains("\"ranges\":null"))
    var split = progress
    split.ranges = [0..<2, 4..<7]
    #expect(EventJSON.value(of: split).text.contains("\"ranges\":[[0,1],[4,6]]"))
    let url = ["displayURL", "event", "time", "url"]
    let failure = DownloadFailure(.entityChanged, "changed")
    #expect(keys(EventJSON.value(of: .released(url: "http://a/"))) == url)
    #expect(
      keys(EventJSON.value(of: .rolledBack(url: "http://a/", from: 1, failure)))
        == (url + ["droppedBytes", "error"]).sorted()
    )
    #expect(keys(EventJSON.value(of: .missed(3))) == ["count", "event", "time"])
  }

  @Test func `quiet prints errors only`() async throws {
    let process = try await get("--quiet")
    #expect(process.output.isEmpty)
    #expect(
      process.messages.hasPrefix(
        "dlstore: failed none: the server has no such file (404 Not Found)"
      )
    )
    #expect(process.messages.split(separator: "\n").count == 1)
    let again = try DLStoreProcess(
      ["get", "-q", server.url("/a?token=hush")],
      store: store,
      in: folder.path
    )
    #expect(try await again.status() == 0)
    #expect(again.messages.isEmpty && again.output.isEmpty)
  }

  @Test func `verbose prints each step, and no secret`() async throws {
    let body = Body.generated(byteCount: 100_000, seed: 1)
    var resource = Resource(body, faults: .resetAfter(bytes: 60_000))
    let gate = Gate()
    resource.endGate = gate
    server.route("/a", resource)
    let url = server.url("/b")
    let process = try DLStoreProcess(
      ["get", "--verbose", url, server.url("/none?sig=hush")],
      store: store,
      in: folder.path
    )
    // A reset discards bytes that the program has not read; the second attempt resumes after some.
    try await process.wait {
      let record = try? RecordStore(at: store, access: .readOnly).record(matching: url)
      return (record?.received ?? 0) > 0 || !process.isRunning
    }
    gate.open()
    #expect(try await process.status() == 1)
    let messages = process.messages
    // Reconciliation, the first attempt, the URL after a redirect, and the resume offset.
    for text in [
      "reconcile: record=", "offset=0", "result=connectionLost", "status=404",
      "url=\(server.url("/a?token=•••"))", "complete: record=",
    ] {
      #expect(messages.contains(text), "\(text) is missing in \(messages)")
    }
    #expect(messages.contains(/start: record=[0-9a-f]{16} offset=[1-9][0-9]* plan=range/))
    #expect(!messages.contains("hush"))
  }

  @Test func `quiet and verbose exclude each other`() async throws {
    let result = await dlstore("--store", store, "run", "-q", "-v")
    #expect(result.status == .usage)
  }

  @Test func `a closed pipe stops the engine`() async throws {
    var slow = Resource(.generated(byteCount: 100 << 20, seed: 1))
    slow.bytesPerSecond = 100_000
    server.route("/slow", slow)
    let result = try await DLStoreProcess.run(
      store: store,
      in: folder.path,
      shell: "{ dlstore get --json-events \(server.url("/slow")); echo $? >&2; } | head -1"
    )
    #expect(result.messages.hasSuffix("0\n") && result.output.contains("\"started\""))
  }

  @Test func `a log message is one line with the record first, and without secrets`() {
    let text = CapturedText()
    let logger = Logger(label: "x") { _ in StepLog { text.append(Array($0.utf8)) } }
    logger.debug("end", metadata: ["a": "http://h/?sig=hush", "record": "1", "z": "2"])
    #expect(text.text == "end: record=1 a=http://h/?sig=••• z=2")
  }
}
