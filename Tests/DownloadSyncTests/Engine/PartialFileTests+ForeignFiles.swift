import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore
@testable import DownloadSync

// Files of other programs and users at the path, and the lock of the file.

extension PartialFileTests {
  // MARK: Foreign files

  @Test func `a hard link in place of the partial file is not written`() throws {
    let target = try folder.makeFile("target", "precious")
    try FileManager.default.linkItem(atPath: target, toPath: path)
    let failure = #expect(throws: PartialFile.Failure.self) {
      try PartialFile(path: path, offset: 3)
    }
    #expect(failure?.refusal == .notOurs(.severalNames))
    #expect(failure?.asDownloadFailure.message.contains("hard link") == true)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
    // Writing from the first byte replaces the name with a new file.
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("ours".utf8).span)
    #expect(try text() == "ours")
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
  }

  @Test func `writing from the first byte replaces an existing file`() throws {
    try folder.makeFile("a.dlstore-part", "stale")
    let stale = try #require(FileIdentity(ofFileAt: path))
    let reader = try #require(FileHandle(forReadingAtPath: path))
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("new".utf8).span)
    #expect(FileIdentity(ofFileAt: path)?.inode != stale.inode)
    #expect(try reader.readToEnd() == Data("stale".utf8))
  }

  @Test func `a symbolic link in place of the partial file is not followed`() throws {
    let target = try folder.makeFile("target", "precious")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    let failure = #expect(throws: PartialFile.Failure.self) {
      try PartialFile(path: path, offset: 3)
    }
    #expect(failure?.refusal == .notOurs(.link))
    #expect(
      failure?.asDownloadFailure.message
        == "opening \(path): it is a symbolic link; delete it or move it away"
    )
    // Writing from the first byte replaces the link with a new file.
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("ours".utf8).span)
    #expect(FileIdentity(ofFileAt: path)?.size == 4)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
  }

  @Test func `a pipe in place of the partial file is refused or removed without blocking`() throws {
    try #require(unsafe mkfifo(path, 0o600) == 0)
    let failure = #expect(throws: PartialFile.Failure.self) {
      try PartialFile(path: path, offset: 3)
    }
    #expect(failure?.refusal == .notOurs(.notRegular))
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("ours".utf8).span)
    #expect(FileIdentity(ofFileAt: path)?.size == 4)
  }

  @Test(arguments: [0, 3] as [Int64])
  func `a folder in place of the partial file stays, and the failure names it`(
    offset: Int64
  ) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let failure = #expect(throws: PartialFile.Failure.self) {
      try PartialFile(path: path, offset: offset)
    }
    #expect(failure?.refusal == .notOurs(.notRegular))
    #expect(
      failure?.asDownloadFailure.message
        == "opening \(path): it is not a regular file; delete it or move it away"
    )
    #expect(FileManager.default.fileExists(atPath: path))
  }

  /// Refuses to remove names, as a folder that this user may not write does.
  private struct RefusedRemoval: FaultInjector {
    func refusal(of effect: Effect) -> Int32? {
      if case .remove = effect { EACCES } else { nil }
    }

    func didPerform(_ effect: Effect) {}
  }

  @Test func `a link that may not be removed is refused with its reason`() throws {
    let target = try folder.makeFile("target", "precious")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    let failure = #expect(throws: PartialFile.Failure.self) {
      try PartialFile(path: path, offset: 0, faultInjector: RefusedRemoval())
    }
    #expect(failure?.refusal == .notOurs(.link))
    #expect(try text() == "precious")
  }

  @Test(.enabled(if: getuid() == 0, "needs the right to give files away"))
  func `a file of another user is not written`() throws {
    try folder.makeFile("a.dlstore-part", "theirs")
    try #require(unsafe chown(path, 12_345, 12_345) == 0)
    let failure = #expect(throws: PartialFile.Failure.self) {
      try PartialFile(path: path, offset: 3)
    }
    #expect(failure?.refusal == .notOurs(.otherOwner))
    #expect(try text() == "theirs")
  }

  @Test(arguments: ["", "ab"])
  func `a file shorter than the counted bytes is not extended with zeros`(
    bytes: String
  ) throws {
    if !bytes.isEmpty { try folder.makeFile("a.dlstore-part", bytes) }
    #expect(throws: PartialFile.Failure.self) { try PartialFile(path: path, offset: 3) }
    #expect((try? text()) ?? "" == bytes)
  }

  // MARK: Locks

  @Test(arguments: [0, 3] as [Int64])
  func `a file that is being written is in use until it is unlocked`(offset: Int64) throws {
    let first = try PartialFile(path: path, offset: 0)
    try first.write(Array("hello".utf8).span)
    let failure = #expect(throws: PartialFile.Failure.self) {
      try PartialFile(path: path, offset: offset)
    }
    #expect(failure?.asDownloadFailure.code == .fileInUse)
    #expect(try text() == "hello")
    #expect(FilePlacement().removePartial(path) == .refused(.locked))
    FilePlacement().cutPartial(path, to: 1)
    #expect(try text() == "hello")
    first.unlock()
    let second = try PartialFile(path: path, offset: offset)
    #expect(second.position == offset)
    withExtendedLifetime(first) {}
  }

  @Test func `the lock is released with its file`() throws {
    _ = try PartialFile(path: path, offset: 0)
    #expect(FilePlacement().removePartial(path) == .removed)
    #expect(FilePlacement().removePartial(path) == .missing)
  }
}
