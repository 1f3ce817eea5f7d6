import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

#if os(Linux)
  /// Two downloads whose URLs are equal for Swift's `==`, and differ in their bytes.
  @Suite(.timeLimit(.minutes(10)))
  struct EquivalentURLTests: ToolSuite {
    let fixture: ToolFixture
    private static let names = ["\u{E9}", "e\u{301}"]

    init() throws {
      fixture = try ToolFixture()
      server.route("*", Resource(.text("x")))
    }

    private var urls: [String] { Self.names.map { server.url("/\($0)") } }

    private var records: [DownloadRecord] {
      get throws { try RecordStore(at: store, access: .readOnly).records(DownloadRecord.all) }
    }

    private func get() async throws {
      let get = try await dlstore("get", urls[0], urls[1], "--quiet")
      #expect(get.status == 0, "\(get.messages)")
    }

    @Test func `get downloads both`() async throws {
      try await get()
      #expect(try records.map(\.state) == [.completed, .completed])
      #expect(server.requests.count == 2)
      for name in Self.names {
        #expect(FileManager.default.fileExists(atPath: folder.path(name)))
      }
    }

    @Test func `refresh replaces both files`() async throws {
      try await get()
      server.route("*", Resource(.text("newer"), etag: "\"2\""))
      let refresh = try await dlstore("refresh", urls[0], urls[1])
      #expect(refresh.status == 0, "\(refresh.messages)")
      #expect(try records.map(\.received) == [5, 5])
    }

    @Test func `verify-file repairs both files`() async throws {
      try await get()
      for name in Self.names { try FileManager.default.removeItem(atPath: folder.path(name)) }
      let repair = try await dlstore("verify-file", "--all", "--repair", "--quiet")
      #expect(repair.status == 0, "\(repair.messages)")
      for name in Self.names {
        #expect(FileManager.default.fileExists(atPath: folder.path(name)))
      }
    }

    @Test func `run --until-idle --tag downloads both`() async throws {
      try await dlstore("add", urls[0], urls[1], "--tag", "t")
      let run = try await dlstore("run", "--until-idle", "--tag", "t")
      #expect(run.status == 0, "\(run.messages)")
      #expect(try records.map(\.state) == [.completed, .completed])
    }

    @Test func `list shows both if both are named`() async throws {
      try await dlstore("add", urls[0], urls[1])
      let list = try await dlstore("list", "-q", urls[0], urls[1])
      #expect(list.output.split(separator: "\n").count == 2)
    }

    @Test func `remove asks before it removes both, and deletes both files`() async throws {
      try await get()
      let asked = try await dlstore("remove", urls[0], urls[1], "--with-file")
      #expect(asked.status == 64, "\(asked.messages)")
      #expect(try records.count == 2)
      let removed = try await dlstore("remove", urls[0], urls[1], "--with-file", "--yes")
      #expect(removed.status == 0, "\(removed.messages)")
      #expect(try records.isEmpty)
      for name in Self.names {
        #expect(!FileManager.default.fileExists(atPath: folder.path(name)))
      }
    }
  }
#endif
