import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// Fails the first sync, and counts syncs.
private final class OneFailedSync: FaultInjector {
  private let code: Int32
  private let syncs = Mutex(0)

  init(_ code: Int32) {
    self.code = code
  }

  var syncCount: Int { syncs.withLock { $0 } }

  func refusal(of effect: Effect) -> Int32? {
    guard case .synchronize = effect else { return nil }
    return syncs.withLock { count in
      count += 1
      return count == 1 ? code : nil
    }
  }

  func didPerform(_ effect: Effect) {}
}

/// Runs a closure during the first sync, and fails the syncs that begin in it.
private final class DuringSync: FaultInjector {
  private struct State {
    var work: (@Sendable () -> Void)?
    var isRunning = false
  }

  private let state = Mutex(State())

  func next(_ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.work = work }
  }

  func refusal(of effect: Effect) -> Int32? {
    guard case .synchronize = effect else { return nil }
    if state.withLock({ $0.isRunning }) { return EIO }
    let work = state.withLock { state in
      state.isRunning = true
      return state.work.take()
    }
    work?()
    state.withLock { $0.isRunning = false }
    return nil
  }

  func didPerform(_ effect: Effect) {}
}

@Suite struct PartialFileTests {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/a.dlstore-part"
  }

  func text() throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  @Test func `bytes are appended in order`() throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("hello ".utf8).span)
    try file.write([UInt8]().span)
    try file.write(Array("world".utf8).span)
    #expect(file.position == 11)
    #expect(file.unsynced == 11)
    #expect(try file.synchronize() == ByteRanges(upTo: 11))
    #expect(file.unsynced == 0)
    #expect(try text() == "hello world")
    #expect(file.fileIdentity == FileIdentity(ofFileAt: path))
    #expect(file.fileIdentity?.size == 11)
  }

  @Test func `changes by this process are no interference`() throws {
    try folder.makeFile("a.dlstore-part", "committed and more")
    let file = try PartialFile(path: path, offset: 9)
    #expect(file.interference == nil)
    for _ in 0..<100 { try file.write(Array("text".utf8).span) }
    try file.reserve(10_000, .sparse)
    try file.write(Array("text".utf8).span, at: 5_000)
    file.discard(5_000..<5_004)
    _ = try file.synchronize()
    #expect(file.interference == nil)
    try file.removeAll()
    try file.write(Array("text".utf8).span)
    #expect(file.interference == nil)
  }

  @Test func `a change by another program is noticed, whatever is written after it`() throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write([UInt8](repeating: 1, count: 1_000).span)
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.write(contentsOf: Data([7]))
    try handle.close()
    // The write may have been in the same tick of the clock.
    try FileManager.default.setAttributes([.modificationDate: Date() + 60], ofItemAtPath: path)
    try file.write([UInt8](repeating: 1, count: 1_000).span)
    #expect(file.interference == .changed)
    file.noteVerified()
    #expect(file.interference == nil && file.hadInterference)
  }

  @Test func `after a truncation by another program, no write extends the file again`() throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write([UInt8](repeating: 1, count: 1_000).span)
    #expect(unsafe truncate(path, 500) == 0)
    for _ in 0..<2 {
      #expect(throws: PartialFile.Failure.self) {
        try file.write([UInt8](repeating: 1, count: 1_000).span)
      }
      #expect(throws: PartialFile.Failure.self) { try file.reserve(2_000, .sparse) }
    }
    #expect(file.fileIdentity?.size == 500)
    #expect(file.interference == .truncated)
    file.noteVerified()
    #expect(file.interference == .truncated)
    // A new version of the file has none of the lost bytes.
    try file.removeAll()
    #expect(file.interference == nil)
  }

  @Test func `a name that is gone or names another file is noticed`() throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write([UInt8](repeating: 1, count: 1_000).span)
    #expect(rename(path, path + "-moved") == 0)
    #expect(file.interference == .replaced)
    try folder.makeFile("a.dlstore-part", "theirs")
    #expect(file.interference == .replaced)
    #expect(try text() == "theirs")
  }

  /// A user who can open the file could lock it, and so prevent its deletion.
  @Test func `a partial file is closed to other users, and a complete one has the usual mode`()
    throws
  {
    func mode() -> mode_t? {
      var status = stat()
      return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }
    let file = try PartialFile(path: path, offset: 0)
    #expect(mode() == 0o600)
    file.publish()
    try folder.makeFile("usual", "")
    var usual = stat()
    #expect(unsafe stat(folder.path("usual"), &usual) == 0)
    #expect(FileMode.finished == usual.st_mode & 0o666 && mode() == FileMode.finished)
    file.unlock()
    // One of an earlier build.
    #expect(unsafe chmod(path, 0o644) == 0)
    try Data("abc".utf8).write(to: URL(filePath: path))
    _ = try PartialFile(path: path, offset: 2)
    #expect(mode() == 0o600)
  }

  @Test func `opening at an offset truncates the bytes after it`() throws {
    try folder.makeFile("a.dlstore-part", "committed and more")
    let file = try PartialFile(path: path, offset: 9)
    #expect(file.position == 9 && file.unsynced == 0)
    #expect(try text() == "committed")
    try file.write(Array("!".utf8).span)
    #expect(try text() == "committed!")
  }

  @Test(arguments: Preallocation.allCases)
  func `the space of a file is reserved, and returned when the file is opened again`(
    preallocation: Preallocation
  ) throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("hello".utf8).span)
    try file.reserve(1 << 20, preallocation)
    var status = stat()
    #expect(unsafe stat(path, &status) == 0)
    #expect(status.st_size == (preallocation == .none ? 5 : 1 << 20))
    #expect((Int64(status.st_blocks) * 512 >= 1 << 20) == (preallocation == .full))
    #expect(file.written == ByteRanges(upTo: 5))
    #expect(try text().hasPrefix("hello"))
    file.unlock()
    let again = try PartialFile(path: path, offset: 5)
    #expect(try text() == "hello")
    again.unlock()
  }

  @Test func `a file that is longer already is not changed by a reservation`() throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("hello".utf8).span)
    try file.reserve(3, .full)
    #expect(try text() == "hello")
  }

  @Test func `a file whose sync failed is neither written nor synced again`() throws {
    let faultInjector = OneFailedSync(EIO)
    let file = try PartialFile(path: path, offset: 0, faultInjector: faultInjector)
    try file.write(Array("hello".utf8).span)
    let failure = PartialFile.Failure(code: EIO, operation: "syncing \(path)")
    #expect(throws: failure) { try file.synchronize() }
    // The kernel would let these calls succeed.
    #expect(throws: failure) { try file.synchronize() }
    #expect(throws: failure) { try file.write(Array("!".utf8).span) }
    #expect(throws: failure) { try file.removeAll() }
    #expect(faultInjector.syncCount == 1)
    #expect(file.unsynced == 5)
    file.unlock()
    // Reopening at the last durable byte drops all later bytes.
    #expect(try PartialFile(path: path, offset: 0).synchronize() == ByteRanges(upTo: 0))
    #expect(try text() == "")
  }

  @Test func `the bytes are synced before their digest is computed`() throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("abc".utf8).span)
    _ = try file.digest(.sha256)
    #expect(file.unsynced == 0)
  }

  @Test func `bytes that the system refuses to sync do not count`() throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("abc".utf8).span)
    // A pipe accepts no sync.
    var ends: [Int32] = [0, 0]
    #expect(unsafe pipe(&ends) == 0)
    let original = dup(file.descriptor)
    dup2(ends[1], file.descriptor)
    #expect(throws: PartialFile.Failure.self) { try file.synchronize() }
    dup2(original, file.descriptor)
    for descriptor in ends + [original] { close(descriptor) }
    // The system accepts the next one, which says nothing about these bytes.
    #expect(throws: PartialFile.Failure.self) { try file.synchronize() }
    #expect(file.unsynced == 3)
  }

  @Test func `a sync says nothing about bytes that were discarded while it ran`() throws {
    let disk = DuringSync()
    let file = try PartialFile(path: folder.path("synced"), offset: 0, faultInjector: disk)
    try file.write(Array("abcdef".utf8).span)
    disk.next {
      file.discard(0..<3)
      try? file.write(Array("xyz".utf8).span, at: 0)
    }
    #expect(try file.synchronize() == ByteRanges())
    #expect(file.unsynced == 6)
    #expect(try file.synchronize() == ByteRanges(upTo: 6))
  }

  @Test func `bytes that are written again count since the last sync`() throws {
    let file = try PartialFile(path: folder.path("synced"), offset: 0)
    try file.write(Array("abcdef".utf8).span)
    _ = try file.synchronize()
    file.discard(0..<3)
    try file.write(Array("abc".utf8).span, at: 0)
    #expect(file.writtenSinceSync == 3 && file.unsynced == 3)
  }

  @Test func `a sync fails if another one has failed since it began`() throws {
    let disk = DuringSync()
    let file = try PartialFile(path: folder.path("synced"), offset: 0, faultInjector: disk)
    try file.write(Array("abc".utf8).span)
    disk.next { _ = try? file.synchronize() }
    #expect(throws: PartialFile.Failure.self) { try file.synchronize() }
    #expect(file.unsynced == 3)
  }

  @Test func `bytes received again are written at their offset`() throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("hello".utf8).span)
    #expect(try file.synchronize() == ByteRanges(upTo: 5))
    file.discard(2..<Int64.max)
    #expect(file.position == 2 && file.unsynced == 0)
    try file.write(Array("LLo!".utf8).span)
    #expect(file.unsynced == 4)
    #expect(try text() == "heLLo!")
    #expect(try file.synchronize() == ByteRanges(upTo: 6))
  }

  @Test func `starting over truncates the file`() throws {
    let file = try PartialFile(path: path, offset: 0)
    try file.write(Array("hello".utf8).span)
    _ = try file.synchronize()
    try file.removeAll()
    #expect(file.position == 0 && file.unsynced == 0)
    #expect(try text() == "")
    try file.write(Array("x".utf8).span)
    #expect(try text() == "x")
  }

  @Test func `a missing folder throws`() throws {
    let failure = #expect(throws: PartialFile.Failure.self) {
      try PartialFile(path: folder.path + "/none/a", offset: 0)
    }
    #expect(failure?.code == ENOENT)
    #expect(failure?.asDownloadFailure.code == .fileSystem)
  }

  @Test(arguments: [
    (ENOSPC, DownloadFailure.Code.diskFull), (EDQUOT, .diskFull), (EIO, .fileSystem),
    (EFBIG, .fileSystem), (EROFS, .fileSystem),
  ]) func `a full disk is distinguished from other failures`(
    code: Int32,
    reason: DownloadFailure.Code
  ) {
    let failure = PartialFile.Failure(code: code, operation: "writing x")
    #expect(failure.asDownloadFailure.code == reason)
  }

  @Test func `file descriptors are closed`() throws {
    // Other tests open files at the same time, with other names.
    func openCount() throws -> Int {
      let folder = "/proc/self/fd"
      return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
        return target?.hasPrefix(path) == true
      }
    }
    let file = try PartialFile(path: path, offset: 0)
    #expect(try openCount() == 1)
    for number in 0..<500 {
      _ = try PartialFile(path: "\(path)-\(number)", offset: 0)
      _ = try? PartialFile(path: "\(path)-\(number)", offset: -1)
    }
    #expect(try openCount() == 1)
    withExtendedLifetime(file) {}
  }

  @Test func `a file size limit fails the write and keeps the written byte count`() async throws {
    await #expect(processExitsWith: .success) { [path = path as String] in
      // Ignore the signal, which would end the process before the call fails.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 1_000, rlim_max: 1_000)
      #if canImport(Glibc)
        try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #else
        try #require(unsafe setrlimit(RLIMIT_FSIZE, &limit) == 0)
      #endif
      let file = try PartialFile(path: path, offset: 0)
      let failure = #expect(throws: PartialFile.Failure.self) {
        try file.write([UInt8](repeating: 7, count: 1_500).span)
      }
      #expect(failure?.code == EFBIG)
      #expect(file.position == 1_000)
      #expect(try file.synchronize() == ByteRanges(upTo: 1_000))
    }
  }

  #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable, "needs the right to mount a file system"))
    func `a full disk fails the write, and the bytes written before count`() throws {
      let disk = try #require(SmallDisk(kilobytes: 64))
      let file = try PartialFile(path: disk.path + "/a", offset: 0)
      let failure = #expect(throws: PartialFile.Failure.self) {
        try file.write([UInt8](repeating: 7, count: 100_000).span)
      }
      #expect(failure?.code == ENOSPC)
      #expect(failure?.asDownloadFailure.code == .diskFull)
      #expect(file.position == 65_536)
      #expect(try file.synchronize() == ByteRanges(upTo: 65_536))
    }
  #endif
}
