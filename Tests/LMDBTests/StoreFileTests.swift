import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import LMDB

/// Tests the files that other users and programs plant in the folder of an environment.
@Suite(.timeLimit(.minutes(10))) struct StoreFileTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try Environment.open(folder.path).database("strings")
  }

  private func code(_ body: () throws -> Void) -> LMDBError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? LMDBError)?.code
    }
  }

  private func expectDenied() {
    for isReadOnly in [true, false] {
      let options = EnvironmentOptions(isReadOnly: isReadOnly)
      #expect(code { _ = try Environment.open(folder.path, options: options) } == .accessDenied)
    }
    #expect(code { try Environment.compact(folder.path) } == .accessDenied)
  }

  @Test(arguments: ["data.mdb", "lock.mdb"])
  func `a symbolic link is not followed, and its target stays as it is`(name: String) throws {
    let target = folder.path("target")
    try FileManager.default.moveItem(atPath: folder.path(name), toPath: target)
    let before = try Data(contentsOf: URL(filePath: target))
    #expect(unsafe symlink(target, folder.path(name)) == 0)
    expectDenied()
    #expect(try Data(contentsOf: URL(filePath: target)) == before)
    var status = stat()
    #expect(lstat(folder.path(name), &status) == 0)
    #expect(status.st_mode & S_IFMT == S_IFLNK)
  }

  @Test func `a link to a missing file creates nothing`() throws {
    try FileManager.default.removeItem(atPath: folder.path("lock.mdb"))
    #expect(unsafe symlink(folder.path("target"), folder.path("lock.mdb")) == 0)
    expectDenied()
    #expect(try folder.names() == ["data.mdb", "lock.mdb"])
  }

  @Test(arguments: ["data.mdb", "lock.mdb"])
  func `a pipe is refused without waiting for its other end`(name: String) throws {
    try FileManager.default.removeItem(atPath: folder.path(name))
    #expect(unsafe mkfifo(folder.path(name), 0o600) == 0)
    expectDenied()
    let expected = name == "data.mdb" ? LMDBError.Code.accessDenied : nil
    #expect(code { _ = try DataFileReader(path: folder.path("data.mdb")) } == expected)
  }

  @Test(.enabled(if: getuid() == 0, "only root can give files to another user"))
  func `a file of another user is refused in a folder that everybody may write`() throws {
    let path = folder.path("lock.mdb")
    #expect(unsafe chown(path, 1_234, 1_234) == 0)
    #expect(code { _ = try Environment.open(folder.path) } == nil)
    #expect(unsafe chmod(folder.path, 0o1777) == 0)
    expectDenied()
    #expect(unsafe chown(folder.path, 1_234, 1_234) == 0)
    #expect(code { _ = try Environment.open(folder.path) } == nil)
  }

  @Test(.enabled(if: getuid() == 0, "only root can open the folder of another user"))
  func `a second name of a file is refused in the folder of another user`() throws {
    let target = try folder.makeFile("target", "root's")
    try FileManager.default.removeItem(atPath: folder.path("lock.mdb"))
    #expect(link(target, folder.path("lock.mdb")) == 0)
    #expect(unsafe chown(folder.path, 1_234, 1_234) == 0)
    expectDenied()
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "root's")
  }

  #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable, "this process may not mount"))
    func `a read-only file system is refused, unless no process changes the file`() throws {
      let disk = try #require(SmallDisk(kilobytes: 4_096))
      let store = disk.path + "/store"
      try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
      do { _ = try Environment.open(store).database("strings") }
      let readOnly = UInt(MS_REMOUNT) | UInt(MS_RDONLY)
      #expect(unsafe mount("tmpfs", disk.path, "tmpfs", readOnly, nil) == 0)
      for isReadOnly in [true, false] {
        let options = EnvironmentOptions(isReadOnly: isReadOnly)
        #expect(code { _ = try Environment.open(store, options: options) } == .readOnlyFileSystem)
      }
      let environment = try Environment.open(store, options: EnvironmentOptions(isImmutable: true))
      #expect(environment.isReadOnly && environment.isImmutable)
      #expect(try environment.beginRead().openDatabase("strings") != nil)
      // Another caller of this process has not said that nobody writes.
      let options = EnvironmentOptions(isReadOnly: true)
      #expect(code { _ = try Environment.open(store, options: options) } == .busy)
    }
  #endif

  @Test func `an immutable environment is not replaced while it is open`() throws {
    do {
      let options = EnvironmentOptions(isImmutable: true)
      let environment = try Environment.open(folder.path, options: options)
      #expect(code { try Environment.compact(folder.path) } == .busy)
      #expect(throws: LMDBError.self) { _ = try environment.beginWrite() }
    }
    try Environment.compact(folder.path)
  }
}
