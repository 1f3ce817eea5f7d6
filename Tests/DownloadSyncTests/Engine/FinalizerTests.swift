import Foundation
import RecordTestSupport
import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// Notes whether a file exists before each effect.
private final class FileWatch: FaultInjector {
  private let path: String
  private let missing = Mutex<[Effect]>([])

  init(_ path: String) { self.path = path }

  /// The effects before which the file was missing.
  var effectsWithoutFile: [Effect] { missing.withLock { $0 } }

  func refusal(of effect: Effect) -> Int32? {
    if FileIdentity(ofFileAt: path) == nil { missing.withLock { $0.append(effect) } }
    return nil
  }

  func didPerform(_ effect: Effect) {}
}

@Suite struct FinalizerTests {
  private let folder: TemporaryFolder
  private let finalizer = Finalizer(FilePlacement())

  init() throws { folder = try TemporaryFolder() }

  private func complete(
    _ body: String = "body",
    change: (inout DownloadRecord) -> Void = { _ in }
  ) throws -> ActiveTransfer {
    var record = DownloadRecord.sample()
    change(&record)
    let download = try ActiveTransfer.sample(record, in: folder.path)
    try download.transfer.file.write(Array(body.utf8).span)
    return download
  }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  private func text(_ name: String) -> String? {
    try? String(contentsOfFile: folder.path(name), encoding: .utf8)
  }

  @Test func `a complete file keeps its identity and gets its final name`() throws {
    let download = try complete()
    let file = try finalizer.synchronize(CompleteTransfer(download: download))
    #expect(download.transfer.file.unsynced == 0)
    #expect(file.identity == FileIdentity(ofFileAt: download.layout.partialPath))
    #expect(finalizer.place(file) == .placed)
    #expect(text("a") == "body")
    #expect(try folder.names() == ["a"])
  }

  @Test func `a finished file has the permissions that the umask leaves, also after a kill`() throws
  {
    let download = try complete()
    let path = download.layout.partialPath
    #expect(mode(path) == 0o600)
    let file = try finalizer.synchronize(CompleteTransfer(download: download))
    #expect(mode(path) == FileMode.finished)
    var record = download.record
    record.take(.fileComplete(.init(file.identity)), at: .now)
    #expect(unsafe chmod(path, 0o600) == 0)
    let repeated = try #require(FinishedFile(ofLoggedRename: record, download.layout))
    #expect(finalizer.place(repeated) == .placed)
    #expect(mode(folder.path("a")) == FileMode.finished)
  }

  @Test func `the next file of a download replaces the previous one and keeps its mode`() throws {
    let path = try folder.makeFile("a", "old")
    #expect(unsafe chmod(path, 0o640) == 0)
    let download = try complete { record in
      record.replaceFile(
        FileIdentity(ofFileAt: path) ?? FileIdentity(size: 0, inode: 0, modified: 0)
      )
    }
    #expect(
      finalizer.place(try finalizer.synchronize(CompleteTransfer(download: download))) == .placed
    )
    #expect(text("a") == "body")
    #expect(mode(path) == 0o640)
  }

  @Test func `a kill at no point leaves a restarted download without a file`() throws {
    let path = try folder.makeFile("a", "old")
    let previous = try #require(FileIdentity(ofFileAt: path))
    let download = try complete { $0.replaceFile(previous) }
    let file = try finalizer.synchronize(CompleteTransfer(download: download))
    let watch = FileWatch(path)
    #expect(Finalizer(FilePlacement(faultInjector: watch)).place(file) == .placed)
    #expect(watch.effectsWithoutFile == [])
    #expect(try folder.names() == ["a"])
  }

  @Test func `a file that was truncated after its last check is not complete`() throws {
    let download = try complete()
    let handle = try FileHandle(forWritingTo: URL(filePath: download.layout.partialPath))
    try handle.truncate(atOffset: 1)
    try handle.close()
    let failure = #expect(throws: PartialFile.Failure.self) {
      try finalizer.synchronize(CompleteTransfer(download: download))
    }
    #expect(failure?.interference == .truncated)
  }

  @Test func `a file of another program is not replaced`() throws {
    _ = try folder.makeFile("a", "theirs")
    let other = FileIdentity(size: 3, inode: 1, modified: 1)
    for previous in [nil, other] {
      let download = try complete { record in
        if let previous { record.replaceFile(previous) }
      }
      #expect(
        finalizer.place(try finalizer.synchronize(CompleteTransfer(download: download)))
          == .nameTaken
      )
      #expect(text("a") == "theirs")
    }
  }

  @Test func `a file that was replaced or changed after its check does not get the name`() throws {
    let download = try complete()
    let path = download.layout.partialPath
    var file = try finalizer.synchronize(CompleteTransfer(download: download))
    try FileManager.default.setAttributes([.modificationDate: Date() + 60], ofItemAtPath: path)
    file.verifiedDigest = "md5:0"
    guard case .failed(let failure) = finalizer.place(file) else {
      throw PartialFile.Failure(code: 0, operation: "a file with a required digest was placed")
    }
    #expect(failure.asDownloadFailure.code == .fileUnavailable)
    try FileManager.default.removeItem(atPath: path)
    #expect(finalizer.place(file) == .replaced)
    _ = try folder.makeFile(String(path.dropFirst(folder.path.count + 1)), "body")
    #expect(finalizer.place(file) == .replaced)
    #expect(text("a") == nil)
    // The new file does not get the inode of one that is open.
    withExtendedLifetime(download) {}
  }

  @Test func `a file that was changed after its digest was computed is not synced as verified`()
    throws
  {
    let download = try complete()
    let (digest, identity) = try download.transfer.file.digest(.sha256)
    let verified = CheckedDigest(digest: digest, identity: identity)
    try FileManager.default.setAttributes(
      [.modificationDate: Date() + 60],
      ofItemAtPath: download.layout.partialPath
    )
    #expect(throws: PartialFile.Failure.self) {
      _ = try finalizer.synchronize(CompleteTransfer(download: download, verified: verified))
    }
  }

  @Test func `a logged rename is repeated only with the file that was checked`() throws {
    let download = try complete()
    let file = try finalizer.synchronize(CompleteTransfer(download: download))
    var record = download.record
    record.take(.fileComplete(.init(file.identity, entityTag: "\"t\"")), at: .now)
    let repeated = FinishedFile(ofLoggedRename: record, download.layout)
    #expect(repeated?.identity == file.identity)
    #expect(repeated?.entity.entityTag == "\"t\"" && repeated?.entity.total == 4)
    try FileManager.default.removeItem(atPath: download.layout.partialPath)
    _ = try folder.makeFile(
      String(download.layout.partialPath.dropFirst(folder.path.count + 1)),
      "body"
    )
    #expect(FinishedFile(ofLoggedRename: record, download.layout) == nil)
    // The new file does not get the inode of one that is open.
    withExtendedLifetime(download) {}
  }

  @Test func `folders that cannot be synced are returned with their failures`() throws {
    let layout = FileLayout(record: .sample(), storeID: "s", rootPath: folder.path)
    let missing = FileLayout(record: .sample(), storeID: "s", rootPath: folder.path("none"))
    let failures = finalizer.synchronizeFolders(of: [layout, missing, layout])
    #expect(failures.keys.map(\.text) == [folder.path("none")])
    #expect(finalizer.synchronizeFolders(of: []) == [:])
  }

  @Test func `folders whose paths differ only in their bytes are each synced`() {
    let layouts = ["\u{E9}", "e\u{301}"].map { name in
      FileLayout(record: .sample(), storeID: "s", rootPath: folder.path(name))
    }
    #expect(finalizer.synchronizeFolders(of: layouts).count == 2)
  }
}
