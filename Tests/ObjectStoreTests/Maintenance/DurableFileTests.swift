import Foundation
import LMDB
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Tests the order of syncs and renames when files are created or replaced.
@Suite struct DurableFileTests {
  /// Records durability calls, and makes one of them fail.
  private final class Calls: Sendable {
    private let state = Mutex<(all: [DurableFile.Call], failing: Int?)>(([], nil))

    /// Runs `body`, fails the call at index `failing` with `EIO`, and returns all calls.
    func observe(failing: Int? = nil, _ body: () throws -> Void) throws -> [DurableFile.Call] {
      state.withLock { $0 = ([], failing) }
      defer { state.withLock { $0.failing = nil } }
      try DurableFile.$observer.withValue({ self.record($0) }, operation: body)
      return state.withLock { $0.all }
    }

    private func record(_ call: DurableFile.Call) -> Int32 {
      state.withLock { state in
        state.all.append(call)
        return state.failing == state.all.count - 1 ? EIO : 0
      }
    }
  }

  private let damaged: DamagedStore
  private let calls = Calls()
  private var folder: String { damaged.folder.path }

  init() throws {
    damaged = try DamagedStore()
  }

  /// Describes the calls with relative paths and without the random part of temporary names.
  private func descriptions(_ calls: [DurableFile.Call]) -> [String] {
    func short(_ path: String) -> String {
      let below = path.hasPrefix(folder) ? "." + path.dropFirst(folder.count) : path
      let named = below.replacing(/\.partial-\d+-\d+/, with: ".partial")
        .replacing(/\.new-[0-9a-f]+/, with: ".new")
      return named.hasSuffix("/") ? String(named.dropLast()) : named
    }
    return calls.map { call in
      switch call {
      case .sync(let path): "sync \(short(path))"
      case .rename(let path, let target): "rename \(short(path)) to \(short(target))"
      case .link(let path, let target): "link \(short(path)) to \(short(target))"
      }
    }
  }

  /// Runs `body` once per call, and fails a different call each time.
  private func expectFailures(_ count: Int, _ body: () throws -> Void) throws {
    let before = try damaged.folder.names()
    for failing in 0..<count {
      let error = #expect(throws: StoreError.self, "call \(failing)") {
        _ = try calls.observe(failing: failing, body)
      }
      #expect(error?.code == .inputOutput)
      #expect(try damaged.folder.names() == before, "call \(failing)")
    }
  }

  @Test func `a backup is synced before its rename, and the rename before it returns`() throws {
    let store = try damaged.open()
    let target = damaged.folder.path("copy")
    try expectFailures(5) { try store.backup(to: target) }
    let made = try calls.observe { try store.backup(to: target) }
    #expect(
      descriptions(made) == [
        "sync ./copy.partial/data.mdb", "sync ./copy.partial", "sync ./copy.partial",
        "rename ./copy.partial to ./copy", "sync .",
      ]
    )
    #expect(try Store.verify(at: target).isValid)
  }

  @Test func `an export is synced before it is linked, and the link before it returns`() throws {
    let store = try damaged.open()
    let target = damaged.folder.path("export.jsonl")
    try expectFailures(3) { try store.exportJSONLines(to: target) }
    let made = try calls.observe { try store.exportJSONLines(to: target) }
    #expect(
      descriptions(made) == [
        "sync ./export.jsonl.partial", "link ./export.jsonl.partial to ./export.jsonl", "sync .",
      ]
    )
  }

  @Test func `an export whose name begins with a combining mark is synced in its own folder`()
    throws
  {
    let store = try damaged.open()
    let target = damaged.folder.path("sub/\u{301}export.jsonl")
    // A killed export left it.
    try damaged.folder.makeFile("sub/other")
    let leftover = open(target + ".partial-99999999-1", O_WRONLY | O_CREAT, 0o600)
    try #require(leftover >= 0)
    close(leftover)
    let made = try calls.observe { try store.exportJSONLines(to: target) }
    #expect(
      descriptions(made) == [
        "sync ./sub/\u{301}export.jsonl.partial",
        "link ./sub/\u{301}export.jsonl.partial to ./sub/\u{301}export.jsonl", "sync ./sub",
      ]
    )
    #expect(try damaged.folder.names(in: "sub") == ["other", "\u{301}export.jsonl"])
  }

  @Test func `a compacted file is synced before it replaces the original`() throws {
    try expectFailures(2) { try Store.compact(at: damaged.path) }
    let made = try calls.observe { try Store.compact(at: damaged.path) }
    #expect(
      descriptions(made) == [
        "sync ./store/data.mdb.new/data.mdb",
        "rename ./store/data.mdb.new/data.mdb to ./store/data.mdb", "sync ./store",
      ]
    )
    #expect(try damaged.folder.names(in: "store").filter { $0.contains(".new") } == [])
    #expect(try Store.verify(at: damaged.path).isValid)
  }

  @Test func `a repaired store is synced before its rename`() throws {
    let target = damaged.folder.path("repaired")
    try expectFailures(4) { _ = try Store.repair(at: damaged.path, into: target) }
    let made = try calls.observe { _ = try Store.repair(at: damaged.path, into: target) }
    #expect(
      descriptions(made) == [
        "sync ./repaired.partial/data.mdb", "sync ./repaired.partial",
        "rename ./repaired.partial to ./repaired", "sync .",
      ]
    )
  }

  @Test func `the directory entries of a new store are synced before its first commit`() throws {
    let path = damaged.folder.path("new/deep/store")
    let made = try calls.observe { _ = try Store(at: path, models: [Ticket.self]) }
    #expect(
      descriptions(made) == ["sync .", "sync ./new", "sync ./new/deep/store", "sync ./new/deep"]
    )
    // The failed attempt leaves empty files.
    let empty = damaged.folder.path("empty")
    #expect(throws: StoreError.self) {
      _ = try calls.observe(failing: 0) { _ = try Store(at: empty, models: [Ticket.self]) }
    }
    let again = try calls.observe { _ = try Store(at: empty, models: [Ticket.self]) }
    #expect(descriptions(again) == ["sync ./empty", "sync ."])
    let later = try calls.observe { _ = try Store(at: empty, models: [NewNote.self]) }
    #expect(later == [])
  }

  @Test func `the next open syncs the directory entries after creation was killed`() throws {
    let path = damaged.folder.path("new")
    _ = try Store(at: path, models: [Ticket.self])
    // The state after a kill between the rename of the file and the sync of its folder.
    try damaged.folder.makeFile("new/data.mdb.new-\(Int32.max)-1/data.mdb")
    let made = try calls.observe { _ = try Store(at: path, models: [Ticket.self]) }
    #expect(descriptions(made) == ["sync ./new", "sync ."])
    #expect(try damaged.folder.names(in: "new").filter { $0.contains(".new-") } == [])
    #expect(try calls.observe { _ = try Store(at: path, models: [Ticket.self]) } == [])
  }

  @Test func `an export does not replace a file created while it ran`() throws {
    let target = damaged.folder.path("export.jsonl")
    let file = try OutputFile(target)
    try file.write(Array("ours".utf8))
    try damaged.folder.makeFile("export.jsonl", "theirs")
    let error = #expect(throws: StoreError.self) { try file.finish() }
    #expect(error?.code == .alreadyExists)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "theirs")
  }

  @Test func `a backup does not replace a folder created while it ran`() throws {
    let target = damaged.folder.path("copy")
    let error = #expect(throws: StoreError.self) {
      try NewFolder.make(target) { _ in try damaged.folder.makeFile("copy/file", "theirs") }
    }
    #expect(error?.code == .alreadyExists)
    #expect(try damaged.folder.names(in: "copy") == ["file"])
    #expect(try damaged.folder.names() == ["copy", "store"])
  }

  @Test func `an unfinished export leaves no file`() throws {
    do {
      let file = try OutputFile(damaged.folder.path("export.jsonl"))
      try file.write(Array("ours".utf8))
    }
    #expect(try damaged.folder.names() == ["store"])
  }
}
