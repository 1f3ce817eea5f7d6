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

  @Test func `folders whose paths differ only in their bytes have roots of their own`() throws {
    let store = fixture.store
    let (composed, decomposed) = ("/caf\u{E9}", "/cafe\u{301}")
    let roots = [try store.root(at: composed), try store.root(at: decomposed)]
    #expect(roots[0] != roots[1])
    #expect(try [composed, decomposed].map { try store.root(at: $0) } == roots)
    let known = try store.roots()
    #expect(known.location(ofFolder: "\(composed)/x")?.root == roots[0])
    #expect(known.location(ofFolder: "\(decomposed)/x")?.root == roots[1])
    try store.setRoot(composed)
    #expect(try store.root(at: composed) == RootName.standard)
    #expect(try store.root(at: decomposed) == roots[1])
  }

  @Test func `files stay in a standard folder whose path differs from the new one only in bytes`()
    throws
  {
    let store = fixture.store
    _ = try store.setStandardFolder("/caf\u{E9}")
    try fixture.add("https://example.com/a")
    try fixture.change("https://example.com/a") { $0.received = 5 }
    #expect(try store.setStandardFolder("/cafe\u{301}").count == 1)
    let path = try fixture.layout(of: store.record(matching: "https://example.com/a")).finalPath
    #expect(Array(path.utf8) == Array("/caf\u{E9}/a".utf8))
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

  @Test func `downloads with bytes or a file keep their folder when the standard one changes`()
    throws
  {
    let store = fixture.store
    let files = "\(store.path)/files"
    for name in ["done", "part", "running", "file", "new"] {
      try fixture.add("https://example.com/\(name)") { $0.folder = "sub" }
    }
    try fixture.change("https://example.com/done") { $0.state = .completed }
    try fixture.change("https://example.com/part") { $0.received = 5 }
    try fixture.change("https://example.com/running") { $0.state = .running }
    let file = try fixture.layout(of: store.record(matching: "https://example.com/file"))
    try FileManager.default.createDirectory(
      atPath: file.folderPath,
      withIntermediateDirectories: true
    )
    try Data("x".utf8).write(to: URL(filePath: file.partialPath))
    let kept = try store.setStandardFolder("/new")
    #expect(kept.path == files && kept.count == 4)
    for name in ["done", "part", "running", "file"] {
      let record = try store.record(matching: "https://example.com/\(name)")
      #expect(try fixture.layout(of: record).finalPath == "\(files)/sub/\(name)")
      #expect(record.destination == "\(record.root)/sub/\(name)")
    }
    let record = try store.record(matching: "https://example.com/new")
    #expect(try fixture.layout(of: record).finalPath == "/new/sub/new")
    // The same folder again changes nothing.
    #expect(try store.setStandardFolder("/new/").count == 0)
    #expect(try store.roots().all.count == 2)
  }

  @Test func `folders that alternate share their roots`() throws {
    let store = fixture.store
    var urls: [String] = []
    for (round, folder) in ["/a", "/b", "/a", "/b", "/a", "/b"].enumerated() {
      #expect(try store.setStandardFolder(folder).count == (round + 1) / 2)
      urls.append("https://example.com/\(round)")
      try fixture.add(urls[round])
      try fixture.change(urls[round]) { $0.received = 5 }
    }
    let folders = try urls.map { try fixture.layout(of: store.record(matching: $0)).rootPath }
    #expect(folders == ["/a", "/b", "/a", "/b", "/a", "/b"])
    // No path has two roots.
    #expect(try store.roots().all.map(\.path) == ["/b", "/a"])
  }

  @Test func `a new download gives way to one that returns to its folder`() throws {
    let store = fixture.store
    _ = try store.setStandardFolder("/a")
    try fixture.add("https://example.com/1") { $0.filename = "x" }
    try fixture.change("https://example.com/1") { $0.received = 5 }
    _ = try store.setStandardFolder("/b")
    try fixture.add("https://example.com/2") { $0.filename = "x" }
    #expect(try store.setStandardFolder("/a").count == 0)
    let (old, new) = (
      try store.record(matching: "https://example.com/1"),
      try store.record(matching: "https://example.com/2")
    )
    #expect(try fixture.layout(of: old).finalPath == "/a/x")
    #expect(try fixture.layout(of: new).finalPath == "/a/x (2)")
    #expect(old.root == RootName.standard && new.root == RootName.standard)
    #expect(try store.roots().all.count == 1)
  }

  @Test func `a download whose name is taken in the root of its folder gets another root`() throws {
    let store = fixture.store
    let known = try store.root(at: "/a")
    try fixture.add("https://example.com/1") { ($0.root, $0.filename) = (known, "x") }
    try fixture.change("https://example.com/1") { $0.received = 5 }
    // The path of a root that the user sets is not compared with the others.
    try store.setRoot("/a")
    try fixture.add("https://example.com/2") { $0.filename = "x" }
    try fixture.change("https://example.com/2") { $0.received = 5 }
    let kept = try store.setStandardFolder("/b")
    #expect(kept.path == "/a" && kept.count == 1)
    let record = try store.record(matching: "https://example.com/2")
    #expect(try fixture.layout(of: record).rootPath == "/a")
    #expect(record.root != known && record.root != RootName.standard)
    // Both have bytes, so each keeps its name.
    _ = try store.setStandardFolder("/a")
    let found = try ["1", "2"].map { try store.record(matching: "https://example.com/\($0)") }
    #expect(try found.map { try fixture.layout(of: $0).finalPath } == ["/a/x", "/a/x"])
    #expect(Set(found.map(\.root)).count == 2)
  }
}
