import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@Suite struct ReservationTests {
  let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture()
  }

  @Test func `two URLs with the same filename get two names`() throws {
    let names = try ["one", "two", "three"].map {
      try fixture.add("https://\($0).example/a.zip").record.filename
    }
    #expect(names == ["a.zip", "a (2).zip", "a (3).zip"])
  }

  @Test func `two URLs with the same filename in one batch get two names`() throws {
    let added = try fixture.store.addNow([
      DownloadRequest(url: "https://one.example/a.zip"),
      DownloadRequest(url: "https://two.example/a.zip"),
    ])
    #expect(added.map(\.record.destination) == ["default/a.zip", "default/a (2).zip"])
  }

  @Test func `the same filename in two folders or roots does not collide`() throws {
    try fixture.store.setRoot(fixture.folder.path + "/other", named: "other")
    let a = try fixture.add("https://one.example/a.zip").record
    let b = try fixture.add("https://two.example/a.zip") { $0.folder = "sub" }.record
    let c = try fixture.add("https://three.example/a.zip") { $0.root = "other" }.record
    #expect([a, b, c].map(\.filename) == ["a.zip", "a.zip", "a.zip"])
    #expect(Set([a, b, c].map(\.destination)).count == 3)
  }

  @Test func `downloads that move to the root of kept output do not collide`() throws {
    for host in ["one", "two"] {
      for root in [RootName.temporary, RootName.standard] {
        try fixture.add("https://\(host).example/a") { $0.root = root }
      }
    }
    let kept = try fixture.store.records().map(\.destination)
    #expect(kept.sorted() == ["standard-output-kept/a", "standard-output-kept/a (2)"].sorted())
  }

  @Test func `a foreign file keeps its name`() throws {
    try fixture.folder.makeFile("\(StoreFixture.files)/a.zip", "theirs")
    try fixture.folder.makeFile("\(StoreFixture.files)/a (2).zip", "theirs")
    #expect(try fixture.add("https://one.example/a.zip").record.filename == "a (3).zip")
  }

  @Test func `a folder and a dangling symbolic link keep their names`() throws {
    try fixture.folder.makeFile("\(StoreFixture.files)/a/x")
    try FileManager.default.createSymbolicLink(
      atPath: "\(fixture.folder.path)/\(StoreFixture.files)/b",
      withDestinationPath: "/nowhere"
    )
    #expect(try fixture.add("https://one.example/a").record.filename == "a (2)")
    #expect(try fixture.add("https://one.example/b").record.filename == "b (2)")
  }

  @Test func `a completed record keeps its name`() throws {
    try fixture.add("https://one.example/a.zip")
    try fixture.finish("https://one.example/a.zip")
    #expect(try fixture.add("https://two.example/a.zip").record.filename == "a (2).zip")
  }

  @Test func `a requested number is replaced by a free one`() throws {
    let names = try ["one", "two", "three"].map { host in
      try fixture.add("https://\(host).example/") { $0.filename = "a (2).zip" }.record.filename
    }
    #expect(names == ["a (2).zip", "a (3).zip", "a (4).zip"])
  }

  @Test func `a numbered filename is renumbered, not numbered twice`() throws {
    try fixture.add("https://one.example/a.zip")
    var record = try fixture.add("https://two.example/a.zip").record
    try fixture.write("theirs", to: fixture.layout(of: record).finalPath)
    let roots = try fixture.store.roots()
    record = try fixture.store.objects.write { [record] tx in
      var record = record
      try fixture.store.reserveName(for: &record, roots, in: &tx)
      return record
    }
    #expect(record.filename == "a (3).zip")
    #expect(record.destination == "default/a (3).zip")
  }

  @Test func `a record can reserve the name that it has`() throws {
    let record = try fixture.add("https://one.example/a.zip").record
    let roots = try fixture.store.roots()
    let same = try fixture.store.objects.write { tx in
      var same = record
      try fixture.store.reserveName(for: &same, roots, in: &tx)
      return same
    }
    #expect(same == record)
  }

  @Test func `filenames of maximum length are numbered within the limit`() throws {
    let name = String(repeating: "a", count: 300) + ".zip"
    let names = try (0..<3).map { number in
      try fixture.add("https://h\(number).example/") { $0.filename = name }.record.filename
    }
    #expect(Set(names).count == 3)
    #expect(names.allSatisfy { $0.utf8.count == 255 && $0.hasSuffix(".zip") })
  }

  @Test func `hundreds of URLs with the same filename are numbered without gaps`() throws {
    let requests = (0..<300).map { DownloadRequest(url: "https://h.example/get?id=\($0)") }
    let names = try fixture.store.addNow(requests).map(\.record.filename)
    #expect(names == ["get"] + (2...300).map { "get (\($0))" })
  }

  @Test func `a filename that becomes free is used again`() throws {
    for host in ["one", "two", "three"] { try fixture.add("https://\(host).example/a") }
    let second = try fixture.store.record(matching: "https://two.example/a")
    try fixture.store.purge(fixture.store.purgePlan([second], withFiles: false))
    #expect(try fixture.add("https://four.example/a").record.filename == "a (2)")
  }
}
