import Foundation
import LMDB
import ObjectStore
import TestSupport
import Testing

@Suite struct OpeningTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func code(
    _ path: String,
    _ access: StoreOptions.Access = .create
  ) -> StoreError.Code? {
    do {
      _ = try Store(
        at: path,
        models: [Everything.self],
        options: StoreOptions(access: access)
      )
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  private func write(_ bytes: [UInt8], to name: String = "data.mdb") throws {
    try Data(bytes).write(to: URL(filePath: folder.path + "/" + name))
  }

  @Test(arguments: [StoreOptions.Access.readOnly, .readWrite])
  func `opening a missing store without create throws notFound`(access: StoreOptions.Access) throws
  {
    #expect(code(folder.path + "/none", access) == .notFound)
    #expect(code(folder.path, access) == .notFound)
    try write([])
    #expect(code(folder.path, access) == .notFound)
  }

  @Test func `a store is created in place of an empty file`() throws {
    try write([])
    #expect(code(folder.path) == nil)
  }

  /// The names are one Character with the slash before or after them.
  @Test(arguments: ["new/\u{301}store", "new/store\u{600}", "new\u{600}/\u{200D}store"])
  func `a store is created, compacted and copied in a folder of any name`(name: String) throws {
    let path = folder.path(name)
    #expect(code(path) == nil)
    try Store.compact(at: path)
    let copy = path + "/\u{301}copy"
    try Store(at: path, models: [Everything.self]).backup(to: copy)
    #expect(code(copy, .readOnly) == nil)
    #expect(try folder.names(in: name).filter { $0.contains("partial") } == [])
  }

  @Test func `creating a store removes the temporary files of a killed process`()
    throws
  {
    // No process has this id.
    try folder.makeFile("data.mdb.new-99999999-1/data.mdb", "the first bytes of a store")
    try folder.makeFile("data.mdb.new-99999999-1/lock.mdb")
    #expect(code(folder.path) == nil)
    #expect(try folder.names().allSatisfy { !$0.hasPrefix("data.mdb.") })
  }

  @Test func `threads that create the same store concurrently share it`() throws {
    let path = folder.path + "/store"
    DispatchQueue.concurrentPerform(iterations: 8) { number in
      do {
        let store = try Store(at: path, models: [Everything.self])
        try store.write { tx in try tx.insert(Everything(id: Int64(number))) }
      } catch {
        Issue.record(error)
      }
    }
    let store = try Store(at: path, models: [Everything.self])
    #expect(try store.read { tx in try tx.count(Everything.all) } == 8)
  }

  @Test func `a file in place of a folder throws cannotCreate`() throws {
    try write([1], to: "file")
    #expect(code(folder.path + "/file") == .cannotCreate)
    #expect(code(folder.path + "/file/below") == .cannotCreate)
  }

  @Test(arguments: [StoreOptions.Access.readOnly, .readWrite, .create])
  func `opening a file that is not a store throws damaged`(access: StoreOptions.Access) throws {
    try write([1, 2, 3])
    #expect(code(folder.path, access) == .damaged)
    try write((0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    #expect(code(folder.path, access) == .damaged)
  }

  @Test func `opening an LMDB file of another program throws damaged`() throws {
    do {
      let environment = try Environment.open(folder.path)
      var transaction = try environment.beginWrite()
      _ = try transaction.createDatabase("theirs")
      try transaction.commit()
    }
    #expect(code(folder.path) == .damaged)
  }

  @Test func `a newer format version throws tooNew`() throws {
    #expect(code(folder.path) == nil)
    do {
      let environment = try Environment.open(folder.path)
      var transaction = try environment.beginWrite()
      let database = try transaction.createDatabase("store")
      let version = UInt8(5)
      try transaction.put([version, 0, 0, 0].span, for: Array("format".utf8).span, in: database)
      try transaction.commit()
    }
    #expect(code(folder.path) == .tooNew)
  }

  @Test(arguments: ["format", "seed", "epoch", "layout/Everything/1"])
  func `a truncated schema entry throws damaged`(key: String) throws {
    #expect(code(folder.path) == nil)
    let environment = try Environment.open(folder.path)
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase("store")
    let truncated: [UInt8] = [1]
    try transaction.put(truncated.span, for: Array(key.utf8).span, in: database)
    try transaction.commit()
    #expect(code(folder.path) == .damaged)
  }

  @Test func `changes of the schema have numbers after the greatest possible one`() throws {
    #expect(code(folder.path) == nil)
    do {
      let environment = try Environment.open(folder.path)
      var transaction = try environment.beginWrite()
      let database = try transaction.createDatabase("store")
      let greatest = [UInt8](repeating: 0xFF, count: 8)
      try transaction.put(greatest.span, for: Array("epoch".utf8).span, in: database)
      try transaction.commit()
    }
    let options = StoreOptions(schemaVersion: 2)
    let store = try Store(at: folder.path, models: [Everything.self], options: options)
    #expect(try store.read { try $0.count(Everything.all) } == 0)
  }

  @Test func `reading a damaged record throws damaged with its id, and others can be read`() throws
  {
    let store = try Store(at: folder.path, models: [Everything.self])
    try store.write { tx in for id in 1...3 { try tx.insert(Everything(id: Int64(id))) } }
    let environment = try Environment.open(folder.path)
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase("Everything", keys: .integers)
    let id: [UInt8] = [2, 0, 0, 0, 0, 0, 0, 0]
    try transaction.put([UInt8](repeating: 7, count: 100).span, for: id.span, in: database)
    try transaction.commit()
    #expect(try store.read { try $0.find(Everything.self, key: 1) } == Everything(id: 1))
    #expect(try store.read { try $0.find(Everything.self, key: 3) } == Everything(id: 3))
    let error = #expect(throws: StoreError.self) {
      try store.read { try $0.find(Everything.self, key: 2) }
    }
    #expect(error?.code == .damaged)
    #expect(error?.message == "object 2 of Everything is damaged")
  }

  @Test(.enabled(if: getuid() == 0, "only root can become another user"))
  func `opening a store without permission throws permissionDenied`() async throws {
    let folder = folder
    do { _ = try Store(at: folder.path, models: [Everything.self]) }
    unsafe chmod(folder.path, 0o755)
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      guard setegid(65_534) == 0, seteuid(65_534) == 0 else { exit(1) }
      func code(_ path: String, _ access: StoreOptions.Access) -> StoreError.Code? {
        do {
          let options = StoreOptions(access: access)
          _ = try Store(at: path, models: [Everything.self], options: options)
          return nil
        } catch {
          return (error as? StoreError)?.code
        }
      }
      #expect(code(path, .create) == .permissionDenied)
      #expect(code(path, .readOnly) == .permissionDenied)
      #expect(code(path + "/below", .create) == .permissionDenied)
    }
  }
}
