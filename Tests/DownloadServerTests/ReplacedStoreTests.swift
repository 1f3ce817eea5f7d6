#if Server
  import DownloadStore
  import Foundation
  import TestSupport
  import Testing

  @testable import DownloadServer

  /// A store whose folder or file another program moves, deletes or replaces under a server.
  @Suite(.timeLimit(.minutes(10)))
  struct ReplacedStoreTests {
    @Test(arguments: ["mv", "rm", "restore"])
    func `a server answers 503, and writes to no file that nobody reads`(
      change: String
    ) async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        let body = #"{"requests":[{"url":"http://h.example/a"}]}"#
        #expect(try await server.send("POST", "/api/v1/downloads", body).status == 201)
        let path = server.store.path
        let files = FileManager.default
        let before = try Data(contentsOf: URL(filePath: path + "/data.mdb"))
        switch change {
        case "mv": try files.moveItem(atPath: path, toPath: path + ".old")
        case "rm": try files.removeItem(atPath: path)
        default:
          // A copy takes the place of the file, as a restored backup does.
          try before.write(to: URL(filePath: path + "/copy"))
          try files.moveItem(atPath: path + "/data.mdb", toPath: path + "/old")
          try files.moveItem(atPath: path + "/copy", toPath: path + "/data.mdb")
        }
        let other = body.replacing("/a", with: "/b")
        for answer in [
          try await server.send("POST", "/api/v1/downloads", other),
          try await server.send("GET", "/api/v1/downloads"),
          try await server.send("GET", "/events"),
        ] {
          #expect(answer.status == 503, "\(answer.text)")
          let error = try answer.object["error"] as? [String: Any]
          #expect((error?["message"] as? String)?.contains("replaced") == true, "\(answer.text)")
        }
        let old = ["mv": path + ".old/data.mdb", "restore": path + "/old"][change]
        if let old { #expect(try Data(contentsOf: URL(filePath: old)) == before) }
        // Every other way in, too.
        await #expect(throws: (any Error).self) {
          try await server.store.add([DownloadRequest(url: "http://h.example/c")])
        }
      }
    }
  }
#endif
