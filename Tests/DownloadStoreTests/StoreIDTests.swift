import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadStore

/// The ids that distinguish the partial files of different stores.
@Suite struct StoreIDTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `an id is derived from its seed by the documented rule`() {
    // printf 'store 0' | sha256sum | head -c 16
    #expect(RecordIdentity.id(ofStoreWithSeed: 0) == "1775a552f68effa8")
    #expect(RecordIdentity.id(ofStoreWithSeed: .max) == "77c58e98923b189e")
  }

  @Test func `every store has its own id and keeps it`() throws {
    let first = try RecordStore(at: folder.path("a")).id
    let second = try RecordStore(at: folder.path("b")).id
    #expect(first != second)
    #expect(PartialName("\(first)-\(second).dlstore-part") != nil)
    #expect(try RecordStore(at: folder.path("a")).id == first)
    let repaired = folder.path("repaired")
    _ = try Store.repair(at: folder.path("a"), into: repaired)
    #expect(try RecordStore(at: repaired, access: .readOnly).id == first)
  }

  @Test func `a backup has the id of its store, also when read-only`() throws {
    let store = try RecordStore(at: folder.path("a"))
    try store.objects.backup(to: folder.path("copy"))
    #expect(try RecordStore(at: folder.path("copy"), access: .readOnly).id == store.id)
  }

  @Test func `concurrent creators of a store see the same id`() async throws {
    let path = folder.path("a")
    let ids = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 { group.addTask { try RecordStore(at: path).id } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
  }

  @Test func `each store has its own partial file for the same URL in one folder`() throws {
    let paths = try ["a", "b"].map { name in
      let store = try RecordStore(at: folder.path(name))
      try store.setRoot(folder.path("shared"))
      let added = try store.addNow([DownloadRequest(url: "https://example.com/x")])
      return try store.roots().layout(of: added[0].record).partialPath
    }
    #expect(Set(paths).count == 2)
  }
}
