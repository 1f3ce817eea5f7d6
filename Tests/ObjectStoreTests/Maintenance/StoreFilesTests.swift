import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Tests the files of a store that other users own, or have put in its folder.
@Suite struct StoreFilesTests {
  private let damaged: DamagedStore

  init() throws {
    damaged = try DamagedStore()
  }

  private func owner(_ name: String) -> uid_t? {
    var status = stat()
    return lstat("\(damaged.path)/\(name)", &status) == 0 ? status.st_uid : nil
  }

  @Test(.enabled(if: getuid() == 0, "only root can give files to another user"))
  func `a repair by root keeps the owner of the store's files`() throws {
    for name in ["", "/data.mdb"] { #expect(unsafe chown(damaged.path + name, 1_234, 1_234) == 0) }
    for name in ["lock.mdb", "changes"] { _ = unlink("\(damaged.path)/\(name)") }
    _ = try Store.repairInPlace(at: damaged.path)
    #expect(owner("data.mdb") == 1_234)
    do { _ = try Store(at: damaged.path, models: [Ticket.self]) }
    #expect(owner("lock.mdb") == 1_234)
    #expect(owner("changes") == 1_234)
  }

  @Test func `a link under the name of the file changes is not followed`() throws {
    let target = try damaged.folder.makeFile("target", "theirs")
    _ = unlink(damaged.path + "/changes")
    #expect(unsafe symlink(target, damaged.path + "/changes") == 0)
    let store = try Store(at: damaged.path, models: [Ticket.self])
    try store.write { tx in try tx.insert(Ticket(id: 1_000_000, seat: "new", row: 1)) }
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "theirs")
  }

  @Test func `an immutable store is read-only and is not locked`() throws {
    let options = StoreOptions(immutable: true)
    let lock = damaged.path + "/lock.mdb"
    _ = unlink(lock)
    let store = try Store(at: damaged.path, models: [Ticket.self], options: options)
    #expect(store.isReadOnly)
    #expect(throws: StoreError.self) { try store.write { _ in } }
    #expect(access(lock, F_OK) != 0)
    #expect(try store.read { tx in try tx.count(Ticket.all) } > 0)
  }
}
