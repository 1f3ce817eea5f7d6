import Foundation
import TestSupport
import Testing

@testable import LMDB

/// A data file that another program moves, deletes or replaces while it is open.
struct ReplacedFileTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("store")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  @Test(arguments: ["move", "delete", "replace", "put back"])
  func `nothing is written to a file that has lost its name`(change: String) throws {
    let environment = try Environment.open(path)
    var transaction = try environment.beginWrite()
    _ = try transaction.createDatabase("a")
    try transaction.commit()
    #expect(environment.isInPlace)
    let (file, old) = (path + "/data.mdb", path + "/old")
    switch change {
    case "move": try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
    case "delete": try FileManager.default.removeItem(atPath: file)
    default:
      try FileManager.default.moveItem(atPath: file, toPath: old)
      try FileManager.default.copyItem(atPath: old, toPath: file)
    }
    #expect(!environment.isInPlace)
    let error = #expect(throws: LMDBError.self) { _ = try environment.beginWrite() }
    #expect(error?.code == .replaced)
    // The snapshot can still be read, for an export.
    _ = try environment.beginRead()
    guard change == "put back" else { return }
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.moveItem(atPath: old, toPath: file)
    transaction = try environment.beginWrite()
    _ = try transaction.createDatabase("b")
    try transaction.commit()
  }

  @Test func `a file opened by a relative path is in place when the current folder changes`() async
  {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      #expect(FileManager.default.changeCurrentDirectoryPath(folder.path))
      let environment = try Environment.open(".")
      #expect(FileManager.default.changeCurrentDirectoryPath("/"))
      #expect(environment.isInPlace)
      _ = try environment.beginWrite()
    }
  }

  @Test func `an environment in memory has no name to lose`() throws {
    let environment = try Environment.openInMemory()
    _ = try environment.beginWrite()
    #expect(environment.isInPlace)
  }
}
