import DownloadStore
import Foundation
import SystemInterface
import TestSupport
import TestTraits
import Testing

@testable import DownloadSync

@Suite struct FilePlacementTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The rename without replacement, and its substitute for file systems without that call.
  enum Way: CaseIterable {
    case usual
    case exclusively
    case overReservation

    func place(_ partial: String, as final: String) -> FilePlacement.Outcome {
      switch self {
      case .usual: FilePlacement().place(partial, as: final)
      case .exclusively: FilePlacement().renameExclusively(partial, as: final)
      case .overReservation: FilePlacement().placeOverReservation(partial, as: final)
      }
    }
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
  }

  @Test(arguments: Way.allCases) func `a placed file keeps its identity`(
    way: Way
  )
    throws
  {
    let partial = try folder.makeFile("part", "body")
    let fileIdentity = try #require(FileIdentity(ofFileAt: partial))
    let final = folder.path + "/final"
    #expect(way.place(partial, as: final) == .placed)
    #expect(try folder.names() == ["final"])
    #expect(FileIdentity(ofFileAt: final) == fileIdentity)
  }

  @Test(arguments: Way.allCases) func `a file that is there is never replaced`(way: Way) throws {
    let partial = try folder.makeFile("part", "body")
    let final = try folder.makeFile("final", "theirs")
    #expect(way.place(partial, as: final) == .nameTaken)
    #expect(try text("final") == "theirs")
    #expect(try text("part") == "body")
  }

  @Test(arguments: Way.allCases) func `an existing folder or symbolic link is never replaced`(
    way: Way
  )
    throws
  {
    let partial = try folder.makeFile("part", "body")
    try folder.makeFile("folder/x")
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nowhere")
    #expect(way.place(partial, as: folder.path + "/folder") == .nameTaken)
    #expect(way.place(partial, as: link) == .nameTaken)
    #expect(try text("part") == "body")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/nowhere")
  }

  @Test(.requirements("ZF11"), arguments: Way.allCases)
  func `a failed placement leaves no file behind`(way: Way) throws {
    let final = folder.path + "/final"
    guard case .failed(let failure) = way.place(folder.path + "/none", as: final) else {
      Issue.record("a missing file was placed")
      return
    }
    #expect(failure.code == ENOENT)
    #expect(try folder.names() == [])
    let partial = try folder.makeFile("part", "body")
    guard case .failed = way.place(partial, as: folder.path + "/none/final") else {
      Issue.record("a file was placed in a missing folder")
      return
    }
    #expect(try text("part") == "body")
  }

  @Test func `a reservation that a kill has left is found again by its file only`() throws {
    let partial = try folder.makeFile("part", "body")
    let final = folder.path("final")
    #expect(NameReservation.reserve(final, for: partial) == 0)
    let other = try folder.makeFile("other", "theirs")
    #expect(FilePlacement().placeOverReservation(other, as: final) == .nameTaken)
    #expect(FilePlacement().place(other, as: final) == .nameTaken)
    #expect(FilePlacement().placeOverReservation(partial, as: final) == .placed)
    #expect(try folder.names() == ["final", "other"])
    #expect(try text("final") == "body")
    // An empty file may be one of another program.
    let next = try folder.makeFile("next", "body")
    let empty = try folder.makeFile("empty", "")
    #expect(FilePlacement().placeOverReservation(next, as: empty) == .nameTaken)
  }

  @Test func `of several concurrent placements under one name, one succeeds`() async throws {
    let partials = try (0..<20).map { try folder.makeFile("part\($0)", "\($0)") }
    let final = folder.path + "/final"
    let outcomes = await withTaskGroup(of: FilePlacement.Outcome.self) { group in
      for (number, partial) in partials.enumerated() {
        let way = Way.allCases[number % Way.allCases.count]
        group.addTask { way.place(partial, as: final) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { $0 == .placed } == 1)
    #expect(outcomes.count { $0 == .nameTaken } == 19)
    #expect(try folder.names().count == 20)
    #expect(try !text("final").isEmpty)
  }

  @Test(.requirements("ZY9")) func `creating a folder creates its parents and can be repeated`()
    throws
  {
    let path = folder.path + "/a/b/c"
    try FilePlacement().makeFolder(path)
    try FilePlacement().makeFolder(path)
    try FilePlacement().makeFolder("/")
    try FilePlacement().synchronizeFolder(path)
    #expect(try folder.names(in: "a/b") == ["c"])
  }

  @Test func `a folder whose name begins with a combining mark is created with its parents`()
    throws
  {
    let path = folder.path + "/a/\u{301}b"
    try FilePlacement().makeFolder(path)
    try FilePlacement().synchronizeFolder(path)
    #expect(try folder.names(in: "a").count == 1)
  }

  @Test(.requirements("ZF10")) func `a folder that cannot be created throws the system's error`()
    throws
  {
    let file = try folder.makeFile("file", "x")
    let failure = #expect(throws: PartialFile.Failure.self) {
      try FilePlacement().makeFolder(file + "/a/b")
    }
    #expect(failure?.code == ENOTDIR)
    #expect(throws: PartialFile.Failure.self) { try FilePlacement().synchronizeFolder(file) }
    #expect(throws: PartialFile.Failure.self) {
      try FilePlacement().synchronizeFolder(folder.path + "/none")
    }
  }

  /// Fails every sync of a folder.
  private struct FailedFolderSync: FaultInjector {
    let code: Int32

    func refusal(of effect: Effect) -> Int32? {
      if case .synchronizeFolder = effect { code } else { nil }
    }

    func didPerform(_ effect: Effect) {}
  }

  @Test func `a failed folder sync throws unless the file system does not support it`() throws {
    let failure = #expect(throws: PartialFile.Failure.self) {
      try FilePlacement(faultInjector: FailedFolderSync(code: EIO)).synchronizeFolder(folder.path)
    }
    #expect(failure?.code == EIO)
    // The error of Linux for a file system that cannot sync folders.
    try FilePlacement(faultInjector: FailedFolderSync(code: EINVAL)).synchronizeFolder(folder.path)
  }

  @Test func `removing a missing file is no failure`() throws {
    let path = try folder.makeFile("a", "x")
    FilePlacement().remove(path)
    FilePlacement().remove(path)
    #expect(try folder.names() == [])
  }

  @Test func `truncating a name does not affect another link to the file`() throws {
    let target = try folder.makeFile("target", "precious")
    let hard = folder.path + "/hard"
    let soft = folder.path + "/soft"
    try FileManager.default.linkItem(atPath: target, toPath: hard)
    try FileManager.default.createSymbolicLink(atPath: soft, withDestinationPath: target)
    for path in [hard, soft] { FilePlacement().cutPartial(path, to: 0) }
    #expect(try text("target") == "precious")
    let own = try folder.makeFile("own", "12345")
    FilePlacement().cutPartial(own, to: 2)
    #expect(try text("own") == "12")
  }

  /// Another program may truncate the file after the engine has examined it.
  @Test func `truncating a file that is shorter does not extend it`() throws {
    let path = try folder.makeFile("own", "1")
    FilePlacement().cutPartial(path, to: 2)
    #expect(try text("own") == "1")
  }

  @Test func `a truncated partial file keeps its modification time`() throws {
    let path = try folder.makeFile("own", "12345")
    let time = Date(timeIntervalSince1970: 1_000_000_000.5)
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
    FilePlacement().cutPartial(path, to: 2)
    #expect(FileIdentity(ofFileAt: path)?.modificationDate == time)
    _ = try PartialFile(path: path, keeping: ByteRanges(upTo: 1))
    #expect(try text("own") == "1")
    #expect(FileIdentity(ofFileAt: path)?.modificationDate == time)
  }

  @Test func `deleting one name keeps the bytes under the other one`() throws {
    let target = try folder.makeFile("target", "precious")
    let path = folder.path + "/part"
    try FileManager.default.linkItem(atPath: target, toPath: path)
    #expect(FilePlacement().removePartial(path) == .removed)
    #expect(try folder.names() == ["target"])
    #expect(try text("target") == "precious")
  }
}
