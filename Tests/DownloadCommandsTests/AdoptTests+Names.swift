import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

// `add --adopt` of a file that has the name of the finished one, and no control file.
extension AdoptTests {
  /// Adds the download with the bytes of a file of the user that has its name, and runs it.
  ///
  /// - Returns: The identity of the user's file, and the messages of the addition.
  private func continueFile(
    _ bytes: [UInt8],
    _ options: String...
  ) async throws -> (theirs: FileIdentity, messages: String) {
    let path = folder.path("files/a")
    try FileManager.default.createDirectory(
      atPath: folder.path("files"),
      withIntermediateDirectories: true
    )
    try Data(bytes).write(to: URL(filePath: path))
    #expect(unsafe chmod(path, 0o640) == 0)
    let theirs = try #require(FileIdentity(ofFileAt: path))
    try RecordStore(at: store).setRoot(folder.path("files"))
    let added = await dlstore(
      ["--store", store, "add", server.url("/a"), "--adopt", path] + options
    )
    #expect(added.status == .done, "\(added.messages)")
    #expect(FileIdentity(ofFileAt: path) == theirs)
    let run = await dlstore("--store", store, "run", "--until-idle", "--quiet")
    #expect(run.status == .done, "\(run.messages)")
    return (theirs, added.messages)
  }

  private func record() throws -> DownloadRecord {
    try RecordStore(at: store).record(matching: server.url("/a"))
  }

  @Test func `a file of the user is replaced by one that begins with its bytes`() async throws {
    let messages = try await continueFile(
      Self.body.bytes(at: 0, count: 1_500_000),
      "--checksum",
      try digest
    )
    .messages
    let path = folder.path("files/a")
    #expect(messages.contains("copied the first 1500000 bytes; \(path) stays until"), "\(messages)")
    #expect(messages.contains("another one gets the name 'a (2)'"), "\(messages)")
    #expect(server.requests.map { $0["Range"] } == ["bytes=1500000-"])
    #expect(Self.body.matches(file: path))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("files")) == ["a"])
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o640)
    let record = try record()
    #expect(record.filename == "a" && record.fileIdentity == FileIdentity(ofFileAt: path))
  }

  @Test(arguments: ["longer", "other"])
  func `a file of the user that the server's does not continue stays`(kind: String) async throws {
    let bytes =
      kind == "longer"
      ? Self.body.bytes(at: 0, count: Int(Self.size)) + [1] : [UInt8](repeating: 1, count: 1_000)
    let theirs = try await continueFile(bytes).theirs
    #expect(FileIdentity(ofFileAt: folder.path("files/a")) == theirs)
    #expect(Self.body.matches(file: folder.path("files/a (2)")))
    let record = try record()
    #expect(record.state == .completed && record.filename == "a (2)")
    #expect(record.replacedFileIdentity == nil && !record.hasForeignFile)
  }

  @Test func `a complete file of the user stays, and is the finished one`() async throws {
    let whole = Self.body.bytes(at: 0, count: Int(Self.size))
    let theirs = try await continueFile(whole, "--checksum", try digest).theirs
    #expect(FileIdentity(ofFileAt: folder.path("files/a")) == theirs)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("files")) == ["a"])
    #expect(try record().fileIdentity == theirs)
  }

  @Test func `a file of the user is replaced by any other on request`() async throws {
    _ = try await continueFile([UInt8](repeating: 1, count: 1_000), "--if-exists", "replace")
    #expect(Self.body.matches(file: folder.path("files/a")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("files")) == ["a"])
  }
}
