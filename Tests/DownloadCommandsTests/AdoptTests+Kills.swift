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

// Imports after one that was killed between the commit of the bytes and the deletion of aria2's
// files, which leaves what `--keep-partials` does.
extension AdoptTests {
  /// What is left of aria2's files.
  enum Rest: CaseIterable, Sendable {
    case both
    /// The kill was between the two deletions.
    case controlFile
    /// The finished file has replaced the partial one.
    case controlFileOfFinished
  }

  /// Changes a byte that aria2 has received.
  func changeByte(of path: String) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seek(toOffset: 500_000)
    try handle.write(contentsOf: [Self.body.bytes(at: 500_000, count: 1)[0] &+ 1])
    try handle.close()
  }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test(arguments: Rest.allCases)
  func `an import after a killed one deletes what is left of aria2's files`(
    rest: Rest
  ) async throws {
    let ranges = ByteRanges([0..<1_000_000, 3_000_000..<4_000_000])
    let path = try leave(Self.control(pieces: [0b1001_0000]), ranges)
    let digest = try digest.replacingOccurrences(of: "sha256:", with: "sha-256=")
    let session = try session("checksum=\(digest)")
    let arguments = ["--store", store, "import", "--format", "aria2", session]
    let killed = await dlstore(arguments + ["--keep-partials"])
    #expect(killed.status == .done, "\(killed.messages)")
    let run = ["--store", store, "run", "--until-idle", "--quiet"]
    switch rest {
    case .both: break
    case .controlFile: #expect(unlink(path) == 0)
    case .controlFileOfFinished: #expect(await dlstore(run).status == .done)
    }
    #expect(exists(path + ".aria2"))

    let again = await dlstore(arguments)

    #expect(again.status == .done && again.messages.isEmpty, "\(again.messages)")
    #expect(again.output.contains("known"))
    #expect(!exists(path + ".aria2"))
    #expect(exists(path) == (rest == .controlFileOfFinished))
    if rest != .controlFileOfFinished { #expect(await dlstore(run).status == .done) }
    #expect(server.requests.map { $0["Range"] } == ["bytes=1000000-2999999"])
    #expect(Self.body.matches(file: path))
    #expect(try folder.names(in: "files") == ["a"])
  }

  @Test func `a file of aria2 whose bytes the known download does not have stays`() async throws {
    let path = try leave(Self.control(pieces: [0b1100_0000]), ByteRanges(upTo: 2_000_000))
    let arguments = ["--store", store, "import", "--format", "aria2", try session()]
    #expect(await dlstore(arguments + ["--keep-partials"]).status == .done)
    try changeByte(of: path)
    let again = await dlstore(arguments)
    #expect(again.status == .done && again.messages.contains("which has begun"))
    #expect(exists(path) && exists(path + ".aria2"))
  }

  @Test func `a known download without bytes takes over those of aria2`() async throws {
    let path = try leave([0, 2], ByteRanges(upTo: 1_000_000))
    let arguments = ["--store", store, "import", "--format", "aria2", try session()]
    #expect(await dlstore(arguments).status == .failed)
    try Data(Self.control(pieces: [0b1000_0000])).write(to: URL(filePath: path + ".aria2"))
    let second = await dlstore(arguments)
    #expect(second.status == .done && second.messages.contains("took over"), "\(second.messages)")
    #expect(!second.messages.contains("added paused"), "\(second.messages)")
    let record = try RecordStore(at: store).record(matching: server.url("/a"))
    #expect(record.received == 1_000_000 && record.state == .waiting)
    #expect(!exists(path) && !exists(path + ".aria2"))
  }
}
