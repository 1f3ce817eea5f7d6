import DownloadStore
import ObjectStore
import TestSupport
import Testing

/// What a server calls a file against what its record is called.
@Suite struct NamingTests {
  let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture()
  }

  /// Has the record adopt a server's name, and gives the name and the type that it has then.
  private func adopt(_ name: String, _ url: String) throws -> [String] {
    let record = try fixture.store.objects.write { tx in
      var record = try #require(try tx.get(DownloadRecord.self, url))
      try fixture.store.adoptName(name, for: &record, try fixture.store.roots(), in: &tx)
      try tx.upsert(record)
      return record
    }
    #expect(record.destination == "default/\(record.filename)")
    return [record.filename, record.type]
  }

  @Test func `a name that was made of the URL gives way, and its type too`() throws {
    let url = "https://one.example/get.php?id=7"
    #expect(try fixture.add(url).record.type == "php")
    #expect(try adopt("a.zip", url) == ["a.zip", "zip"])
    #expect(try adopt("a.zip", url) == ["a.zip", "zip"])
    #expect(try adopt("b.tar", url) == ["b.tar", "tar"])
  }

  @Test func `a name that was asked for stays`() throws {
    let url = "https://one.example/a.zip"
    try fixture.add(url) { $0.filename = "a.zip" }
    #expect(try adopt("b.zip", url) == ["a.zip", "zip"])
  }

  @Test(arguments: ["get.php", "mine.zip"])
  func `a name that is set stays, also when it is the one before`(_ name: String) throws {
    let url = "https://one.example/get.php"
    try fixture.add(url)
    var update = RecordUpdate()
    update.filename = name
    #expect(try fixture.store.update(url, update).isDone)
    #expect(try adopt("b.zip", url).first == name)
  }

  @Test func `what takes the place of a file keeps its name`() throws {
    let url = "https://one.example/get.php"
    try fixture.add(url)
    _ = try fixture.finish(url)
    _ = try fixture.store.restart(.named(url))
    #expect(try adopt("a.zip", url) == ["get.php", "php"])
  }

  @Test func `a type that was asked for stays`() throws {
    let url = "https://one.example/get.php"
    try fixture.add(url) { $0.type = "model" }
    #expect(try adopt("a.zip", url) == ["a.zip", "model"])
  }

  @Test func `a name that others have gets a number, and keeps it`() throws {
    let url = "https://one.example/get.php"
    try fixture.add("https://two.example/a.zip")
    try fixture.add(url)
    try fixture.folder.makeFile("\(StoreFixture.files)/a (2).zip", "theirs")
    #expect(try adopt("a.zip", url) == ["a (3).zip", "zip"])
    // The server says the same with each response.
    #expect(try adopt("a.zip", url) == ["a (3).zip", "zip"])
  }
}
