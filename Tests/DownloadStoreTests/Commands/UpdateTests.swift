import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import TestTraits
import Testing

@testable import DownloadStore

@Suite struct UpdateTests {
  let fixture: StoreFixture
  let url = "https://example.com/a.bin"

  init() throws {
    fixture = try StoreFixture()
    try fixture.add(url) { $0.tags = ["x"] }
  }

  private func update(
    _ change: (inout RecordUpdate) -> Void
  ) throws -> CommandOutcome {
    var update = RecordUpdate()
    change(&update)
    return try fixture.store.updateNow(matching: url, with: update)
  }

  private func rename(to filename: String) throws -> CommandOutcome {
    try update { $0.filename = filename }
  }

  private func text(_ name: String) -> String? {
    try? String(
      contentsOfFile: fixture.folder.path("\(StoreFixture.files)/\(name)"),
      encoding: .utf8
    )
  }

  private func code(_ body: () throws -> CommandOutcome) -> RecordStoreError.Code? {
    #expect(throws: RecordStoreError.self) { _ = try body() }?.code
  }

  @Test(.requirements("ZY16"))
  func `an update changes the given fields and keeps empty or omitted ones`() throws {
    let before = try fixture.store.record(matching: url)
    let outcome = try update { update in
      update.type = "film"
      update.addedTags = ["y", "z"]
      update.removedTags = ["x", "z", "none"]
      update.priority = -2
    }
    #expect(outcome.isDone)
    let record = try fixture.store.record(matching: url)
    #expect(record.type == "film" && record.tags == ["y"] && record.priority == -2)
    #expect(record.filename == before.filename && record.destination == before.destination)
    let none = try update { update in
      update.filename = ""
      update.type = ""
    }
    #expect(!none.isDone)
    #expect(try fixture.store.record(matching: url) == record)
  }

  @Test func `new mirrors replace the others, each once and without the download's URL`() throws {
    try fixture.change(url) { $0.mirrors = ["https://old.example/a.bin"] }
    let mirrors = ["https://m.example/a.bin", url, "https://m.example/a.bin"]
    #expect(try update { $0.mirrors = mirrors }.isDone)
    #expect(try fixture.store.record(matching: url).mirrors == [mirrors[0]])
    // The previous URL may become a mirror of the new one.
    let outcome = try update { update in
      update.url = mirrors[0]
      update.mirrors = mirrors
    }
    #expect(outcome.isDone)
    #expect(try fixture.store.record(matching: mirrors[0]).mirrors == [url])
    var none = RecordUpdate()
    none.mirrors = []
    try fixture.store.updateNow(matching: mirrors[0], with: none)
    #expect(try fixture.store.record(matching: mirrors[0]).mirrors.isEmpty)
    none.mirrors = ["ftp://m.example/a.bin"]
    let found = code { try fixture.store.updateNow(matching: mirrors[0], with: none) }
    #expect(found == .invalidURL)
  }

  @Test(
    .requirements("ZY20"),
    arguments: [
      DownloadState.waiting, .running, .paused, .failedRetryable, .failedPermanent, .cancelled,
    ]
  )
  func `renaming an unfinished download keeps its partial file`(state: DownloadState) throws {
    let record = try fixture.change(url) { $0.state = state }
    let partial = try fixture.layout(of: record).partialPath
    try fixture.write("123", to: partial)
    #expect(try rename(to: "b.bin").isDone)
    let renamed = try fixture.store.record(matching: url)
    #expect(renamed.filename == "b.bin" && renamed.destination == "default/b.bin")
    #expect(try fixture.layout(of: renamed).partialPath == partial)
    #expect(FileManager.default.fileExists(atPath: partial))
  }

  @Test(.requirements("ZY18")) func `renaming a completed download renames its file`() throws {
    let before = try fixture.finish(url, "body")
    #expect(try rename(to: "b.bin").isDone)
    let record = try fixture.store.record(matching: url)
    #expect(record.filename == "b.bin" && record.state == .completed)
    #expect(text("b.bin") == "body" && text("a.bin") == nil)
    // The file is still recognized as ours.
    #expect(FileInspection(of: record, in: try fixture.layout(of: record)).final == .ours)
    #expect(record.fileIdentity == before.fileIdentity)
    #expect(try !rename(to: "b.bin").isDone)
  }

  #if os(Linux)
    @Test func `a name that differs from the current one only in its bytes renames the file`()
      throws
    {
      try fixture.finish(url, "body")
      #expect(try rename(to: "\u{E9}.bin").isDone)
      #expect(try rename(to: "e\u{301}.bin").isDone)
      let record = try fixture.store.record(matching: url)
      #expect(Array(record.filename.utf8) == Array("e\u{301}.bin".utf8))
      #expect(text("e\u{301}.bin") == "body" && text("\u{E9}.bin") == nil)
      #expect(FileInspection(of: record, in: try fixture.layout(of: record)).final == .ours)
      #expect(try !rename(to: "e\u{301}.bin").isDone)
    }
  #endif

  @Test(arguments: [DownloadState.waiting, .failedPermanent])
  func `a finished file is renamed even if its record is not complete yet`(
    state: DownloadState
  ) throws {
    try fixture.finish(url, "body")
    try fixture.change(url) { $0.state = state }
    #expect(try rename(to: "b.bin").isDone)
    let record = try fixture.store.record(matching: url)
    #expect(text("b.bin") == "body" && text("a.bin") == nil)
    #expect(FileInspection(of: record, in: try fixture.layout(of: record)).final == .ours)
  }

  @Test(.requirements("ZY22")) func `renaming to the name of an existing file changes nothing`()
    throws
  {
    let before = try fixture.finish(url, "ours")
    try fixture.write("theirs", to: fixture.folder.path("\(StoreFixture.files)/b.bin"))
    #expect(code { try rename(to: "b.bin") } == .nameTaken)
    #expect(try fixture.store.record(matching: url) == before)
    #expect(text("a.bin") == "ours" && text("b.bin") == "theirs")
  }

  @Test func `renaming to a name reserved by another download changes nothing`() throws {
    let before = try fixture.finish(url, "ours")
    try fixture.add("https://example.com/b.bin")
    #expect(code { try rename(to: "b.bin") } == .nameTaken)
    #expect(try fixture.store.record(matching: url) == before)
    #expect(text("a.bin") == "ours")
  }

  @Test(.requirements("ZY19"))
  func `renaming a download whose file is missing or replaced changes only the record`() throws {
    let record = try fixture.finish(url, "ours")
    let path = try fixture.layout(of: record).finalPath
    try FileManager.default.removeItem(atPath: path)
    #expect(try rename(to: "b.bin").isDone)
    #expect(text("a.bin") == nil && text("b.bin") == nil)
    try fixture.write("theirs", to: fixture.folder.path("\(StoreFixture.files)/b.bin"))
    #expect(try rename(to: "c.bin").isDone)
    #expect(text("b.bin") == "theirs" && text("c.bin") == nil)
  }

  @Test func `a download cannot be renamed during the final rename`() throws {
    try fixture.change(url) { $0.state = .finalizing }
    #expect(code { try rename(to: "b.bin") } == .busy)
    #expect(try update { $0.priority = 3 }.isDone)
  }

  @Test func `a filename that contains a path is sanitized`() throws {
    try fixture.finish(url, "ours")
    #expect(try rename(to: "../../b.bin").isDone)
    #expect(text("b.bin") == "ours")
  }

  @Test(.requirements("ZY17")) func `updating an unknown or removed record throws unknownRecord`()
    throws
  {
    #expect(
      code {
        try fixture.store.updateNow(matching: "https://example.com/none", with: RecordUpdate())
      }
        == .unknownRecord
    )
    try fixture.store.apply(.remove(withFile: false), to: .matching(url))
    #expect(code { try update { $0.priority = 1 } } == .unknownRecord)
  }

  @Test(.requirements("ZY22"))
  func `a rename never leaves the file without a name and never replaces another file`() throws {
    let old = try fixture.folder.makeFile("old", "1")
    let new = fixture.folder.path("new")
    let rename = try ExclusiveRename(from: old, to: new)
    #expect(FileIdentity(ofFileAt: old) == FileIdentity(ofFileAt: new))
    rename.revert()
    #expect(FileIdentity(ofFileAt: old) != nil && FileIdentity(ofFileAt: new) == nil)
    try ExclusiveRename(from: old, to: new).finish()
    #expect(FileIdentity(ofFileAt: old) == nil && FileIdentity(ofFileAt: new) != nil)
    let other = try fixture.folder.makeFile("other", "2")
    #expect(throws: ExclusiveRename.Failure.nameTaken) {
      _ = try ExclusiveRename(from: other, to: new)
    }
    #expect(throws: ExclusiveRename.Failure.refused(ENOENT)) {
      _ = try ExclusiveRename(from: fixture.folder.path("none"), to: fixture.folder.path("x"))
    }
  }

  @Test(arguments: [
    (EINVAL, true), (EILSEQ, true), (ENAMETOOLONG, true), (EACCES, false), (EPERM, false),
    (EROFS, false), (EIO, false),
  ])
  func `a rename that fails advises another name only if the name may be the cause`(
    code: Int32,
    mayBeName: Bool
  ) {
    let text = "\(ExclusiveRename.Failure.refused(code))"
    let advice = "; if its disk does not accept the name, choose another one"
    #expect(text == systemErrorText(code) + (mayBeName ? advice : ""))
  }

  @Test func `a name that the disk refuses is the reason of a failed rename`() throws {
    let old = try fixture.folder.makeFile("old", "1")
    let name = String(repeating: "x", count: 256)
    #expect(throws: ExclusiveRename.Failure.refused(ENAMETOOLONG)) {
      _ = try ExclusiveRename(from: old, to: fixture.folder.path(name))
    }
    let error = #expect(throws: RecordStoreError.self) {
      try FolderOwner.makeFolder(fixture.folder.path("\(name)/b"))
    }
    #expect(
      error?.message == "creating the folder \(fixture.folder.path(name)) failed: "
        + "\(NamingFailure.text(ENAMETOOLONG))"
    )
  }

  @Test func `a folder whose name begins with a combining mark is created with its parents`()
    throws
  {
    let path = fixture.folder.path("new/\u{301}b")
    try FolderOwner.makeFolder(path)
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `a rename is reverted if the folder of the new name cannot be synced`() throws {
    let old = try fixture.folder.makeFile("old", "1")
    let new = fixture.folder.path("new")
    #expect(throws: ExclusiveRename.Failure.refused(EIO)) {
      _ = try ExclusiveRename(from: old, to: new, synchronizingFolder: { _ in EIO })
    }
    #expect(try fixture.folder.names().filter { ["old", "new"].contains($0) } == ["old"])
  }

  @Test func `each step of a rename is synced`() throws {
    let old = try fixture.folder.makeFile("old", "1")
    let seen = Mutex<[[String]]>([])
    func rename(_ old: String, _ new: String) throws -> ExclusiveRename {
      try ExclusiveRename(
        from: old,
        to: new,
        synchronizingFolder: { [folder = fixture.folder] _ in
          let names = (try? folder.names().filter { ["old", "new"].contains($0) }) ?? []
          seen.withLock { $0.append(names) }
          return 0
        }
      )
    }
    let new = fixture.folder.path("new")
    try rename(old, new).revert()
    try rename(old, new).finish()
    #expect(seen.withLock { $0 } == [["new", "old"], ["old"], ["new", "old"], ["new"]])
  }

  // MARK: Filename and URL together

  private let newURL = "https://example.com/b.bin"

  private func both(_ filename: String, _ url: String) throws -> CommandOutcome {
    try update { update in
      update.filename = filename
      update.url = url
    }
  }

  @Test func `filename and URL change in one commit, and the finished file with them`() throws {
    try fixture.finish(url)
    let before = try fixture.store.objects.commitNumber()
    let outcome = try both("new.bin", newURL)
    #expect(try fixture.store.objects.commitNumber() == before + 1)
    let record = try fixture.store.record(matching: newURL)
    #expect(outcome.record == record && record.filename == "new.bin")
    #expect(throws: RecordStoreError.self) { try fixture.store.record(matching: url) }
    #expect(text("new.bin") == "body" && text("a.bin") == nil)
  }

  @Test func `neither filename nor URL changes if one of them is rejected`() throws {
    try fixture.add(newURL) { $0.filename = "taken" }
    let before = try fixture.finish(url)
    #expect(code { try both("new.bin", newURL) } == .urlTaken)
    #expect(code { try both("new.bin", "ftp://example.com/") } == .invalidURL)
    #expect(code { try both("taken", "https://example.com/free") } == .nameTaken)
    #expect(try fixture.store.record(matching: url) == before)
    #expect(text("a.bin") == "body" && text("new.bin") == nil)
  }
}
