import DownloadStore
import ObjectStore
import TestSupport
import Testing

/// Filenames that a server sends, and the filename of the record.
@Suite struct NamingTests {
  let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture()
  }

  /// Applies a server's filename to the record, and returns its filename and type.
  private func adopt(_ name: String, _ url: String) throws -> [String] {
    let record = try fixture.store.objects.write { tx in
      var record = try #require(try tx.find(DownloadRecord.self, key: url))
      try fixture.store.adoptName(name, for: &record, try fixture.store.roots(), in: &tx)
      try tx.upsert(record)
      return record
    }
    #expect(record.destination == "default/\(record.filename)")
    return [record.filename, record.type]
  }

  @Test func `a filename derived from the URL is replaced, and its type with it`() throws {
    let url = "https://one.example/get.php?id=7"
    #expect(try fixture.add(url).record.type == "php")
    #expect(try adopt("a.zip", url) == ["a.zip", "zip"])
    #expect(try adopt("a.zip", url) == ["a.zip", "zip"])
    #expect(try adopt("b.tar", url) == ["b.tar", "tar"])
  }

  @Test func `a requested filename is kept`() throws {
    let url = "https://one.example/a.zip"
    try fixture.add(url) { $0.filename = "a.zip" }
    #expect(try adopt("b.zip", url) == ["a.zip", "zip"])
  }

  @Test(arguments: ["get.php", "mine.zip"])
  func `a filename that the user set is kept, even if it equals the derived one`(
    _ name: String
  ) throws {
    let url = "https://one.example/get.php"
    try fixture.add(url)
    var update = RecordUpdate()
    update.filename = name
    #expect(try fixture.store.updateNow(matching: url, with: update).isDone)
    #expect(try adopt("b.zip", url).first == name)
  }

  @Test func `a download that replaces a file keeps its filename`() throws {
    let url = "https://one.example/get.php"
    try fixture.add(url)
    _ = try fixture.finish(url)
    _ = try fixture.store.apply(.restart, to: .matching(url))
    #expect(try adopt("a.zip", url) == ["get.php", "php"])
  }

  @Test func `a requested type is kept`() throws {
    let url = "https://one.example/get.php"
    try fixture.add(url) { $0.type = "model" }
    #expect(try adopt("a.zip", url) == ["a.zip", "model"])
  }

  @Test func `a taken filename is numbered, and the number is kept`() throws {
    let url = "https://one.example/get.php"
    try fixture.add("https://two.example/a.zip")
    try fixture.add(url)
    try fixture.folder.makeFile("\(StoreFixture.files)/a (2).zip", "theirs")
    #expect(try adopt("a.zip", url) == ["a (3).zip", "zip"])
    // The server sends the same filename with each response.
    #expect(try adopt("a.zip", url) == ["a (3).zip", "zip"])
  }
}
