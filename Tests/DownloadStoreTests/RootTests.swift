import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

@Suite struct RootTests {
  let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture()
  }

  @Test func `the standard root lies in the store until it is set`() throws {
    let store = fixture.store
    #expect(try store.roots().path(of: RootName.standard) == "\(store.path)/files")
    try store.setRoot("/data/files")
    #expect(try store.roots().path(of: RootName.standard) == "/data/files")
    #expect(try store.roots().path(of: "other") == nil)
  }

  @Test(.requirements("ZY5")) func `moving a root changes the paths of its records`() throws {
    let record = try fixture.add("https://example.com/a") { $0.folder = "x/y" }.record
    try fixture.store.setRoot("/new")
    let layout = try fixture.layout(of: record)
    #expect(layout.rootPath == "/new")
    #expect(layout.folderPath == "/new/x/y")
    #expect(layout.finalPath == "/new/x/y/a")
    #expect(layout.partialPath == "/new/x/y/\(record.id)-\(fixture.store.id).dlstore-part")
  }

  @Test(.requirements("ZY1", "ZY5")) func `records store no absolute path`() throws {
    try fixture.store.setRoot(fixture.folder.path + "/there", named: "there")
    let record = try fixture.add("https://example.com/a") { $0.root = "there" }.record
    #expect(!"\(record)".contains(fixture.folder.path))
  }

  @Test func `a path has one root, which is created if missing`() throws {
    let store = fixture.store
    let first = try store.root(at: "/data")
    #expect(try store.root(at: "/data") == first)
    #expect(try store.root(at: "/data/") == first)
    #expect(try store.root(at: "/other") != first)
    #expect(try store.root(at: "\(store.path)/files") == RootName.standard)
    #expect(try store.roots().path(of: first) == "/data")
    #expect(try store.roots().name(of: "/data") == first)
    #expect(try store.roots().name(of: "/nowhere") == nil)
  }

  @Test func `a moved root is not affected by a new root at its old path`() throws {
    let store = fixture.store
    let moved = try store.root(at: "/data")
    try store.setRoot("/moved", named: moved)
    let new = try store.root(at: "/data")
    #expect(new != moved)
    #expect(try store.roots().path(of: moved) == "/moved")
    #expect(try store.roots().path(of: new) == "/data")
  }

  @Test(arguments: ["", "relative", "./x", "~"])
  func `a path that is not absolute is rejected`(path: String) throws {
    for body in [
      { try fixture.store.setRoot(path) }, { _ = try fixture.store.root(at: path) },
    ] {
      let error = #expect(throws: RecordStoreError.self) { try body() }
      #expect(error?.code == .invalidName)
    }
    #expect(try fixture.store.objects.read { try $0.fetch(Root.all) } == [])
  }

  @Test func `roots are stored durably`() throws {
    try fixture.store.setRoot("/data", named: "disk")
    let again = try RecordStore(at: fixture.store.path, access: .readOnly)
    #expect(try again.roots().path(of: "disk") == "/data")
  }

  @Test func `a record with an unknown root throws`() throws {
    var record = try fixture.add("https://example.com/a").record
    record.root = "gone"
    let roots = try fixture.store.roots()
    let error = #expect(throws: RecordStoreError.self) { try roots.layout(of: record) }
    #expect(error?.code == .missingRoot)
  }
}
