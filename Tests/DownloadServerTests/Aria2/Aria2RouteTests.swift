#if Server
  import DownloadStore
  import Foundation
  import ObjectStore
  import Testing

  @testable import DownloadServer

  /// `/jsonrpc` of a real server.
  struct Aria2RouteTests {
    /// Adds a download with a partial file of 40 bytes; returns its id and the path of the file.
    private func begin(_ name: String, in store: RecordStore) throws -> (id: String, path: String) {
      let url = "http://h.example/\(name)"
      let record = try store.addNow([DownloadRequest(url: url)])[0].record
      let layout = try store.roots().layout(of: record)
      try FileManager.default.createDirectory(
        atPath: layout.folderPath,
        withIntermediateDirectories: true
      )
      try Data(count: 40).write(to: URL(filePath: layout.partialPath))
      try store.objects.write { tx in
        guard var record = try tx.find(DownloadRecord.self, key: url) else { return }
        record.received = 40
        try tx.upsert(record)
      }
      return (record.id, layout.partialPath)
    }

    @Test(arguments: [
      #"{"id":1,"method":"aria2.remove","params":["token:TOKEN","FIRST"]}"#,
      #"""
      [{"id":1,"method":"aria2.forceRemove","params":["token:TOKEN","FIRST"]},
       {"id":2,"method":"aria2.removeDownloadResult","params":["token:TOKEN","FIRST"]},
       {"id":3,"method":"aria2.remove","params":["token:TOKEN","SECOND"]}]
      """#,
      #"""
      {"id":1,"method":"system.multicall","params":[[
       {"methodName":"aria2.forceRemove","params":["token:TOKEN","FIRST"]},
       {"methodName":"aria2.remove","params":["token:TOKEN","SECOND"]}]]}
      """#,
    ])
    func `without an engine, the partial file of a removed download is deleted before the answer`(
      body: String
    ) async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        let first = try begin("a.bin", in: server.store)
        let second = try begin("b.bin", in: server.store)
        let call = body.replacing("TOKEN", with: server.token.text)
          .replacing("FIRST", with: first.id).replacing("SECOND", with: second.id)
        let answer = try await server.send("POST", "/jsonrpc", call)
        #expect(answer.status == 200 && !answer.body.contains("error"), "\(answer.text)")
        #expect(!FileManager.default.fileExists(atPath: first.path))
        let isRemoved = body.contains("SECOND")
        #expect(FileManager.default.fileExists(atPath: second.path) == !isRemoved)
        var expected: [String: DownloadState] = [
          "a.bin": .cancelled, "b.bin": isRemoved ? .cancelled : .waiting,
        ]
        // A record whose result is removed, too, is gone.
        if body.contains("removeDownloadResult") { expected["a.bin"] = nil }
        let records = try server.store.records()
        let states = Dictionary(uniqueKeysWithValues: records.map { ($0.filename, $0.state) })
        #expect(states == expected)
      }
    }
  }
#endif
