import DownloadStore
import Foundation
import ObjectStore
import Testing

/// Downloads that a key identifies instead of the URL.
@Suite struct KeyedDownloadTests {
  private let fixture: StoreFixture
  private let digest: Digest
  private let otherDigest: Digest

  init() throws {
    fixture = try StoreFixture()
    digest = try Digest(String(repeating: "ab", count: 32))
    otherDigest = try Digest(String(repeating: "cd", count: 32))
  }

  private func add(
    _ url: String,
    key: String,
    _ change: (inout DownloadRequest) -> Void = { _ in }
  ) throws -> RecordStore.Added {
    try fixture.add(url) { request in
      request.key = key
      change(&request)
    }
  }

  private var urls: [String] {
    get throws { try fixture.store.records().map(\.url).sorted() }
  }

  private func code(_ body: () throws -> Void) -> RecordStoreError.Code? {
    #expect(throws: RecordStoreError.self) { try body() }?.code
  }

  @Test func `a second URL with the same key is another source of the same download`() throws {
    let first = try add("https://a.example/x?sig=1", key: "model@v1")
    #expect(first.isNew && first.record.keys == ["model@v1"])
    let second = try add("https://a.example/x?sig=2", key: "model@v1")
    #expect(!second.isNew && second.record.id == first.record.id)
    #expect(second.record.mirrors == ["https://a.example/x?sig=2"])
    // The URL that was given last is the next source.
    let third = try add("https://a.example/x?sig=3", key: "model@v1")
    #expect(
      third.record.mirrors == ["https://a.example/x?sig=3", "https://a.example/x?sig=2"]
    )
    let again = try add("https://a.example/x?sig=1", key: "model@v1")
    #expect(again.record.mirrors == third.record.mirrors)
    #expect(try urls == ["https://a.example/x?sig=1"])
  }

  @Test func `a digest has one download, whatever its URLs are`() throws {
    let one = DownloadRequest(digest: digest, urls: ["https://a.example/1", "https://b.example/1"])
    let two = DownloadRequest(digest: digest, urls: ["https://c.example/1", "https://a.example/1"])
    let added = try fixture.store.addNow([one, two])
    #expect(added.map(\.isNew) == [true, false])
    let record = try fixture.store.record(matching: digest.text)
    #expect(record.url == "https://a.example/1" && record.expectedDigest == digest.text)
    #expect(record.mirrors == ["https://c.example/1", "https://b.example/1"])
    #expect(added.map(\.record) == [record, record])
  }

  @Test func `two digests with one URL are two downloads, of which the URL names the first`() throws
  {
    let url = "https://a.example/x#part"
    let requests = [digest, otherDigest].map { DownloadRequest(digest: $0, urls: [url]) }
    let added = try fixture.store.addNow(requests)
    #expect(added.map(\.isNew) == [true, true])
    #expect(
      added.map(\.record.url) == [url, "https://a.example/x#sha256=\(otherDigest.hexadecimal)"]
    )
    #expect(try fixture.store.record(matching: url) == added[0].record)
    #expect(try fixture.store.record(matching: otherDigest.text) == added[1].record)
    #expect(Redaction.url(added[1].record.url) == added[1].record.url)
    // Neither becomes a source of the other or, with a fragment, of itself.
    let again = try fixture.store.addNow(requests.reversed())
    #expect(again.map(\.record) == added.map(\.record).reversed())
    #expect(again.allSatisfy { !$0.isNew && $0.record.mirrors.isEmpty })
  }

  @Test func `a digest is not that of a known download of its URL that requires another one`()
    throws
  {
    let known = try fixture.add("https://a.example/x") { $0.digest = otherDigest }.record
    let urls = ["https://a.example/x"]
    let added = try fixture.store.addNow([DownloadRequest(digest: digest, urls: urls)])[0]
    #expect(added.isNew && added.record.expectedDigest == digest.text)
    #expect(try fixture.store.record(matching: urls[0]) == known)
    // A URL of its own is preferred.
    let third = try Digest(String(repeating: "ef", count: 32))
    let moved = try fixture.store.addNow(
      [DownloadRequest(digest: third, urls: urls + ["https://b.example/x"])]
    )
    #expect(moved[0].record.url == "https://b.example/x" && moved[0].record.mirrors == urls)
  }

  @Test func `a request is not known by a URL whose download has another key or digest`() throws {
    let record = try add("https://a.example/x", key: "a") { $0.digest = digest }.record
    func known(_ key: String?, _ digest: Digest?) throws -> DownloadRecord? {
      var request = DownloadRequest(url: record.url)
      (request.key, request.digest) = (key, digest)
      return try fixture.store.records(of: [request])[0]
    }
    #expect(try known(nil, otherDigest) == record)
    #expect(try known("a", otherDigest) == record)
    #expect(try known("b", digest) == record)
    #expect(try known("b", otherDigest) == nil)
    #expect(try known("b", nil) == nil)
  }

  @Test func `mirrors beyond the limit are those that were given first`() throws {
    for number in 0..<110 { _ = try add("https://a.example/\(number)", key: "k") }
    let mirrors = try fixture.store.record(matching: "k").mirrors
    #expect(mirrors.count == 100)
    #expect(mirrors.first == "https://a.example/109" && mirrors.last == "https://a.example/10")
  }

  @Test func `the same key with another digest is an error, and changes nothing`() throws {
    let known = try add("https://a.example/x", key: "k") { $0.digest = digest }.record
    let other = code { _ = try add("https://b.example/x", key: "k") { $0.digest = otherDigest } }
    #expect(other == .keyTaken)
    // A request without the key must not change what the key stands for, either.
    #expect(
      code { try fixture.add("https://a.example/x") { $0.digest = otherDigest } } == .keyTaken
    )
    #expect(try fixture.store.record(matching: "k") == known)
    #expect(try urls == ["https://a.example/x"])
    // A digest that is not known yet, and the same one, are none.
    #expect(try !add("https://b.example/x", key: "k") { $0.digest = digest }.isNew)
    let later = try add("https://c.example/x", key: "later").record
    let required = try add("https://c.example/x", key: "later") { $0.digest = digest }.record
    #expect(later.id == required.id && required.expectedDigest == digest.text)
  }

  @Test func `a known URL gets the key, unless it belongs to another one`() throws {
    let known = try fixture.add("https://a.example/x").record
    let keyed = try add("https://a.example/x", key: "k")
    #expect(!keyed.isNew && keyed.record.id == known.id && keyed.record.keys == ["k"])
    // The URL may lead to another file by now.
    #expect(code { _ = try add("https://a.example/x", key: "other") } == .urlTaken)
    let moved = try add("https://a.example/x", key: "other") {
      $0.mirrors = ["https://b.example/x"]
    }
    #expect(moved.isNew && moved.record.url == "https://b.example/x")
    #expect(moved.record.mirrors == ["https://a.example/x"])
    // Two keys of one digest are two names of one file.
    _ = try add("https://c.example/x", key: "c") { $0.digest = digest }
    let both = try add("https://c.example/x", key: "d") { $0.digest = digest }
    #expect(!both.isNew && both.record.keys == ["c", "d"])
  }

  @Test func `without a key, the URL stays the identity`() throws {
    _ = try add("https://a.example/x", key: "k") { $0.mirrors = ["https://b.example/x"] }
    #expect(try fixture.add("https://b.example/x").isNew)
    #expect(try !fixture.add("https://a.example/x").isNew)
    #expect(try fixture.store.record(matching: "https://a.example/x").keys == ["k"])
  }

  @Test(arguments: ["", "a\nb", "\0", String(repeating: "k", count: 1_025)])
  func `a key that is empty, too long or has control characters is refused`(key: String) throws {
    #expect(code { _ = try add("https://a.example/x", key: key) } == .invalidKey)
    #expect(try urls.isEmpty)
  }

  @Test func `keys differ byte by byte, and may look like anything`() throws {
    let keys = [
      String(repeating: "k", count: 1_024), "\u{E9}", "e\u{301}", "https://b.example/0", "*", "a b",
      "0123456789abcdef", "x",
    ]
    for (number, key) in keys.enumerated() {
      #expect(try add("https://a.example/\(number)", key: key).isNew, "\(key)")
    }
    for (number, key) in keys.enumerated() {
      #expect(try fixture.store.record(matching: key).url == "https://a.example/\(number)")
    }
  }

  @Test(arguments: [true, false], [true, false])
  func `a URL and an equal key are names of one download`(
    isKeyFirst: Bool,
    isBatch: Bool
  ) throws {
    let name = "https://a.example/x"
    let plain = DownloadRequest(url: name)
    var keyed = DownloadRequest(url: "https://b.example/x")
    keyed.key = name
    let requests = isKeyFirst ? [keyed, plain] : [plain, keyed]
    let store = fixture.store
    let added =
      isBatch ? try store.addNow(requests) : try requests.flatMap { try store.addNow([$0]) }
    #expect(added.map(\.isNew) == [true, false])
    let record = try store.record(matching: name)
    #expect(try store.records() == [record])
    #expect(record.url == requests[0].url && record.mirrors == [requests[1].url])
    #expect(record.keys == [name])
    #expect(try store.records(of: requests) == [record, record])
    #expect(try store.verifyFiles().problemCount == 0)
  }

  @Test func `a key or a URL that names a download with another digest is an error`() throws {
    let known = try fixture.add("https://a.example/x") { $0.digest = digest }.record
    let other = code {
      _ = try add("https://b.example/x", key: known.url) { $0.digest = otherDigest }
    }
    #expect(other == .keyTaken)
    #expect(try fixture.store.records() == [known])
    _ = try add("https://c.example/x", key: "https://d.example/x") { $0.digest = digest }
    #expect(
      code { try fixture.add("https://d.example/x") { $0.digest = otherDigest } } == .keyTaken
    )
    #expect(try urls == ["https://a.example/x", "https://c.example/x"])
  }

  @Test func `no other download gets a URL that is a key`() throws {
    let name = "https://a.example/x"
    let keyed = try add("https://b.example/x", key: name).record
    #expect(code { _ = try add(name, key: "k") } == .urlTaken)
    let moved = try add(name, key: "k") { $0.mirrors = ["https://c.example/x"] }
    #expect(moved.isNew && moved.record.url == "https://c.example/x")
    let digested = try fixture.store.addNow([DownloadRequest(digest: digest, urls: [name])])[0]
    #expect(digested.isNew && digested.record.url == "\(name)#sha256=\(digest.hexadecimal)")
    let id = digested.record.id
    #expect(code { try fixture.store.replaceURLNow(matching: id, with: name) } == .urlTaken)
    #expect(try fixture.store.record(matching: name) == keyed)
    #expect(try fixture.store.verifyFiles().problemCount == 0)
    // Its own key is none of another download.
    try fixture.store.replaceURLNow(matching: keyed.id, with: name)
    #expect(try fixture.store.record(matching: name).id == keyed.id)
  }

  @Test func `a command and a selection take a key`() async throws {
    _ = try add("https://a.example/x", key: "model@v1")
    let outcomes = try await fixture.store.pause(.matching("model@v1"))
    #expect(outcomes.map(\.isDone) == [true])
    #expect(try fixture.store.record(matching: "model@v1").state == .paused)
    let query = DownloadRecord.where { $0.keys.contains("model@v1") }
    #expect(try fixture.store.records(query).count == 1)
  }

  @Test func `a key stays when the URL is replaced, and is free when the download is gone`()
    async throws
  {
    let id = try add("https://a.example/x", key: "k").record.id
    try await fixture.store.replaceURL(matching: "k", with: "https://b.example/x")
    #expect(try fixture.store.record(matching: "k").id == id)
    let plan = try fixture.store.purgePlan(fixture.store.records(), withFiles: true)
    #expect(try fixture.store.purge(plan).records.count == 1)
    #expect(try add("https://c.example/x", key: "k").isNew)
  }

  @Test func `concurrent additions of one key make one download`() async throws {
    let store = fixture.store
    let added = try await withThrowingTaskGroup(of: [RecordStore.Added].self) { group in
      for number in 0..<20 {
        group.addTask { [digest] in
          let urls = ["https://a.example/\(number)"]
          return try await store.add([DownloadRequest(digest: digest, urls: urls)])
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(added.count == 20 && added.count(where: \.isNew) == 1)
    #expect(Set(added.map(\.record.id)).count == 1)
    #expect(try store.record(matching: digest.text).mirrors.count == 19)
  }

  @Test func `header fields for the origin of a mirror do not replace those for the URL`() throws {
    let secret = HeaderField(name: "Authorization", value: "Bearer a")
    let other = HeaderField(name: "Authorization", value: "Bearer b")
    _ = try add("https://a.example/x", key: "k") { $0.headers = [secret] }
    let added = try add("https://b.example/x", key: "k") { $0.headers = [other] }
    #expect(added.change?.properties == [.mirrors] && added.change?.hasUnkeptHeaders == true)
    let record = added.record
    #expect(try fixture.store.headers(of: record, sentTo: "https://a.example/x") == [secret])
    #expect(try fixture.store.headers(of: record, sentTo: "https://b.example/x").isEmpty)
    let plain = try add("https://c.example/x", key: "c").record
    _ = try add("https://d.example/x", key: "c") { $0.headers = [other] }
    let given = try fixture.store.record(matching: plain.id)
    #expect(try fixture.store.headers(of: given, sentTo: "https://d.example/x") == [other])
    #expect(try fixture.store.headers(of: given, sentTo: "https://c.example/x").isEmpty)
  }
}
