import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadSync

/// The list of the downloads for which processes wait.
@Suite(.timeLimit(.minutes(10)))
struct WaiterFolderTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path }

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `downloads are listed while their process waits`() throws {
    var joined = JoinedDownloads()
    #expect(joined.readNew(in: path).isEmpty)
    let first = try WaiterRegistration(of: ["1", "2"], storePath: path)
    #expect(joined.readNew(in: path) == ["1", "2"])
    do {
      let second = try WaiterRegistration(of: ["2", "3"], storePath: path)
      #expect(joined.readNew(in: path) == ["3"] && joined.readNew(in: path).isEmpty)
      joined.readAgain()
      #expect(joined.readNew(in: path).sorted() == ["1", "2", "3"])
      withExtendedLifetime(second) {}
    }
    #expect(WaiterFolder.names(in: path).count == 1)
    #expect(joined.readNew(in: path).isEmpty && joined.contains("3"))
    withExtendedLifetime(first) {}
  }

  @Test func `the folder is removed with the last process`() throws {
    for _ in 0..<3 { withExtendedLifetime(try WaiterRegistration(of: [], storePath: path)) {} }
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
  }

  @Test func `a file that was left by a kill is deleted by the next reader`() throws {
    let other = try WaiterRegistration(of: ["1"], storePath: path)
    let left = "\(path)/\(WaiterFolder.name)/1-\(UUID().uuidString)"
    let descriptor = open(left, O_CREAT | O_WRONLY, 0o600)
    close(descriptor)
    var joined = JoinedDownloads()
    #expect(joined.readNew(in: path) == ["1"])
    #expect(WaiterFolder.names(in: path).count == 1)
    withExtendedLifetime(other) {}
  }

  @Test func `a link in the place of the folder is not followed`() throws {
    let other = folder.path("other")
    let name = "1-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    try Data().write(to: URL(filePath: other + "/" + name))
    let store = folder.path("store")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: "\(store)/\(WaiterFolder.name)",
      withDestinationPath: other
    )
    #expect(WaiterFolder.names(in: store).isEmpty)
    let error = #expect(throws: EngineError.self) {
      try WaiterRegistration(of: ["1"], storePath: store)
    }
    #expect(error?.code == .cannotLock)
    #expect(try FileManager.default.contentsOfDirectory(atPath: other) == [name])
  }

  @Test func `files with other names are neither read nor deleted`() throws {
    let waiter = try WaiterRegistration(of: ["1"], storePath: path)
    for name in ["12345-ABC", "passwd", "1-", "-\(UUID().uuidString)"] {
      try Data().write(to: URL(filePath: "\(path)/\(WaiterFolder.name)/\(name)"))
    }
    var joined = JoinedDownloads()
    #expect(joined.readNew(in: path) == ["1"])
    let left = try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(WaiterFolder.name)")
    #expect(left.count == 5)
    withExtendedLifetime(waiter) {}
  }

  @Test func `a folder that cannot be written is refused`() {
    let error = #expect(throws: EngineError.self) {
      try WaiterRegistration(of: [], storePath: path + "/none")
    }
    #expect(error?.code == .cannotLock)
  }

  @Test func `a watch of the lock file notices the end of an engine`() async throws {
    let lock = Slot<EngineLock>()
    lock.value = try EngineLock(storePath: path)
    let (changes, changed) = AsyncStream<Void>.makeStream()
    let watch = EngineLockWatch(storePath: path) { changed.yield() }
    lock.value = nil
    #if os(Linux)
      for await _ in changes { break }
    #endif
    withExtendedLifetime(watch) {}
  }

  private final class Slot<Value> {
    var value: Value?
  }
}
