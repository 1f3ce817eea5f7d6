import DownloadStore
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

  private func draft() -> String { "\(path)/\(WaiterFolder.name)/.1-\(UUID().uuidString)" }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(WaiterFolder.name)")
  }

  @Test(arguments: ["", "123"])
  func `a draft that was left by a kill is deleted by the next reader, and the next writer`(
    text: String
  ) throws {
    let waiter = try WaiterRegistration(of: ["1"], storePath: path)
    try Data(text.utf8).write(to: URL(filePath: draft()))
    var joined = JoinedDownloads()
    #expect(joined.readNew(in: path) == ["1"])
    #expect(try names().count == 1)
    try Data(text.utf8).write(to: URL(filePath: draft()))
    let other = try WaiterRegistration(of: ["2"], storePath: path)
    #expect(try names().count == 2)
    #expect(joined.readNew(in: path) == ["2"])
    withExtendedLifetime((waiter, other)) {}
  }

  @Test func `the folder is removed with the last process also after a kill left a draft`() throws {
    try FileManager.default.createDirectory(
      atPath: "\(path)/\(WaiterFolder.name)",
      withIntermediateDirectories: false
    )
    try Data().write(to: URL(filePath: draft()))
    withExtendedLifetime(try WaiterRegistration(of: ["1"], storePath: path)) {}
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
  }

  @Test func `a draft that its process has locked stays`() throws {
    let waiter = try WaiterRegistration(of: ["1"], storePath: path)
    let draft = draft()
    let locked = try LockedFile(creating: draft)
    let other = try WaiterRegistration(of: ["2"], storePath: path)
    var joined = JoinedDownloads()
    #expect(joined.readNew(in: path).sorted() == ["1", "2"])
    #expect(locked.nameState(draft) == .same)
    withExtendedLifetime((waiter, other)) {}
  }

  @Test func `processes that begin to wait while others read are all listed`() async throws {
    let waiter = try WaiterRegistration(of: [], storePath: path)
    await withTaskGroup { group in
      for number in 0..<4 {
        group.addTask { [path] in
          for _ in 0..<200 {
            guard number.isMultiple(of: 2) else {
              _ = WaiterFolder.names(in: path)
              continue
            }
            do throws(EngineError) {
              let other = try WaiterRegistration(of: ["\(number)"], storePath: path)
              var joined = JoinedDownloads()
              #expect(joined.readNew(in: path).contains("\(number)"))
              withExtendedLifetime(other) {}
            } catch {
              Issue.record(error)
            }
          }
        }
      }
    }
    #expect(try names().count == 1)
    withExtendedLifetime(waiter) {}
  }

  @Test func `a file that cannot be read now is read at the next call`() {
    var joined = JoinedDownloads()
    #expect(joined.readNew(of: ["a", "b"]) { $0 == "a" ? ["1"] : nil } == ["1"])
    #expect(joined.readNew(of: ["a", "b"]) { $0 == "b" ? ["1", "2"] : nil } == ["2"])
    #expect(joined.readNew(of: ["a", "b"]) { [$0] } == [])
    #expect(joined.readNew(of: ["b", "c"]) { [$0] } == ["c"])
  }

  @Test func `with too many open files a file is unread, and not one without downloads`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let waiter = try WaiterRegistration(of: ["1"], storePath: path)
      let name = try #require(WaiterFolder.names(in: path).first)
      #expect(WaiterFolder.ids(inFile: name, in: path) == ["1"])
      var limit = rlimit()
      #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #else
        let resource = RLIMIT_NOFILE
      #endif
      try #require(unsafe getrlimit(resource, &limit) == 0)
      var none = rlimit()
      none.rlim_max = limit.rlim_max
      try #require(unsafe setrlimit(resource, &none) == 0)
      let ids = WaiterFolder.ids(inFile: name, in: path)
      try #require(unsafe setrlimit(resource, &limit) == 0)
      #expect(ids == nil)
      #expect(WaiterFolder.ids(inFile: name, in: path) == ["1"])
      withExtendedLifetime(waiter) {}
    }
  }

  @Test func `too many open files are said to be the reason`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      var limit = rlimit()
      var none = rlimit()
      #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #else
        let resource = RLIMIT_NOFILE
      #endif
      try #require(unsafe getrlimit(resource, &limit) == 0)
      none.rlim_max = limit.rlim_max
      try #require(unsafe setrlimit(resource, &none) == 0)
      let waiting = Result { () throws(EngineError) in
        _ = try WaiterRegistration(of: ["1"], storePath: path)
      }
      let locking = Result { () throws(EngineError) in _ = try EngineLock(storePath: path) }
      try #require(unsafe setrlimit(resource, &limit) == 0)
      for result in [waiting, locking] {
        let error = #expect(throws: EngineError.self) { try result.get() }
        #expect(error?.code == .outOfResources)
        #expect(error?.message.hasSuffix(" cannot be opened: too many open files") == true)
      }
    }
  }

  #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable, "needs the right to mount a file system"))
    func `a full disk is said to be full, and no draft is left on it`() throws {
      let disk = try #require(SmallDisk(kilobytes: 64))
      let file = open(disk.path + "/fill", O_CREAT | O_WRONLY, 0o600)
      defer { close(file) }
      let bytes = [UInt8](repeating: 7, count: 100_000)
      #expect(pwrite(file, bytes.span, at: 0) == 65_536)
      let error = #expect(throws: EngineError.self) {
        try WaiterRegistration(of: ["1"], storePath: disk.path)
      }
      #expect(error?.code == .diskFull && error?.message.hasSuffix(": the disk is full") == true)
      let folder = "\(disk.path)/\(WaiterFolder.name)"
      let left = try? FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(left ?? [] == [])
    }
  #endif

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
