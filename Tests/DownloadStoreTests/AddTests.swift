import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

@Suite struct AddTests {
  let fixture: StoreFixture
  let url = "https://example.com/files/a.tar.gz?x=1"

  init() throws {
    fixture = try StoreFixture()
  }

  @Test(.requirements("ZY8", "ZY11", "ZY21")) func `adding a new URL stores a waiting record`()
    throws
  {
    let added = try fixture.add(url)
    #expect(added.isNew)
    let record = added.record
    #expect(record.url == url)
    #expect(record.id == RecordIdentity.id(forURL: url))
    #expect(record.filename == "a.tar.gz")
    #expect(record.folder.isEmpty)
    #expect(record.root == RootName.standard)
    #expect(record.destination == "default/a.tar.gz")
    #expect(record.type == "gz")
    #expect(record.state == .waiting)
    #expect(record.intent == .run)
    #expect(record.received == 0 && record.expected == nil && record.fileIdentity == nil)
    #expect(record.createdAt == fixture.now && record.updatedAt == fixture.now)
    #expect(!record.hasHeaders)
    #expect(try fixture.store.record(matching: url) == record)
  }

  @Test func `every field of a request is stored`() throws {
    let digest = try Digest(String(repeating: "ab", count: 32))
    let record = try fixture.add(url) { request in
      request.filename = "movie.mp4"
      request.folder = "a//b/./c/"
      request.type = "video"
      request.tags = ["x", "y"]
      request.priority = -3
      request.mirrors = ["https://mirror.example/a"]
      request.digest = digest
    }
    .record
    #expect(record.filename == "movie.mp4")
    #expect(record.folder == "a/b/c")
    #expect(record.destination == "default/a/b/c/movie.mp4")
    #expect(record.type == "video")
    #expect(record.tags == ["x", "y"])
    #expect(record.priority == -3)
    #expect(record.mirrors == ["https://mirror.example/a"])
    #expect(record.expectedDigest == digest.text)
  }

  @Test func `a size of the request is that of the record and its group from the start`() throws {
    for (name, size) in [("a", 100), ("b", 23)] {
      let record = try fixture.add("https://example.com/\(name)") { request in
        request.byteCount = Int64(size)
        request.tags = ["images"]
      }
      .record
      #expect(record.expected == Int64(size) && record.received == 0 && record.hasPieceDigests)
    }
    let group = try fixture.store.group("images").progress()
    #expect(group.expected == 123 && group.unknownTotals == 0 && group.fraction == 0)
  }

  @Test(arguments: [true, false])
  func `a restarted download still requires the size of its request`(isRequired: Bool) throws {
    _ = try fixture.add(url) { if isRequired { $0.byteCount = 4 } }
    _ = try fixture.finish(url)
    try fixture.store.apply(.restart, to: .matching(url))
    let record = try fixture.store.record(matching: url)
    #expect(record.expected == (isRequired ? 4 : nil) && record.received == 0)
    #expect(record.hasPieceDigests == isRequired)
  }

  @Test func `a size that no file has, or that its pieces contradict, is refused`() throws {
    for size in [0, -1, Int64.max] {
      let error = #expect(throws: RecordStoreError.self) {
        try fixture.add(url) { $0.byteCount = size }
      }
      #expect(error?.code == .invalidRecord)
    }
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.add(url) { request in
        request.byteCount = 5
        request.pieces = RequiredPieces(byteCount: 6, pieceLength: 6, digests: [])
      }
    }
    #expect(error?.code == .invalidRecord)
    #expect(throws: RecordStoreError.self) { try fixture.store.record(matching: url) }
  }

  @Test func `a size changes nothing for a known download with bytes on disk`() throws {
    try fixture.add(url)
    try fixture.change(url) { record in
      record.state = .paused
      record.intent = .pause
      (record.received, record.expected) = (10, 20)
    }
    let record = try fixture.add(url) { $0.byteCount = 30 }.record
    #expect(record.expected == 20 && !record.hasPieceDigests)
  }

  @Test func `a paused request is stored as a paused record`() throws {
    let record = try fixture.add(url) { $0.isPaused = true }.record
    #expect(record.state == .paused)
    #expect(record.intent == .pause)
  }

  @Test(arguments: [
    ("https://example.com/a.ZIP", "zip"),
    ("https://example.com/a", ""),
    ("https://example.com/", ""),
    ("https://example.com/a.abcdefghijklmnopqr", ""),
    ("https://example.com/v1.2/file", ""),
  ]) func `the type is the extension of the filename`(url: String, type: String) throws {
    #expect(try fixture.add(url).record.type == type)
  }

  // MARK: Known URLs

  @Test(.requirements("ZY3", "FK9"), arguments: DownloadState.allCases, [false, true])
  func `adding a known URL keeps its record`(state: DownloadState, isPaused: Bool) throws {
    let first = try fixture.add(url).record
    try fixture.change(url) { $0.state = state }
    let again = try fixture.add(url) { $0.isPaused = isPaused }
    #expect(!again.isNew)
    #expect(again.record.id == first.id)
    #expect(again.record.createdAt == first.createdAt)
    #expect(again.record.filename == first.filename)
    #expect(try fixture.store.records(DownloadRecord.all).count == 1)
  }

  @Test(arguments: DownloadState.allCases)
  func `adding a known URL with a paused request changes nothing`(
    state: DownloadState
  ) throws {
    try fixture.add(url)
    let known = try fixture.change(url) { record in
      record.state = state
      record.received = 5
    }
    #expect(try fixture.add(url) { $0.isPaused = true }.record == known)
  }

  @Test func `a known URL takes the type and the priority of a request that has them`() throws {
    try fixture.add(url) { request in
      request.type = "video"
      request.priority = 3
    }
    let same = try fixture.add(url).record
    #expect(same.type == "video" && same.priority == 3)
    let other = try fixture.add(url) { request in
      request.type = "film"
      request.priority = 0
    }
    #expect(other.record.type == "film" && other.record.priority == 0 && !other.isNew)
    #expect(try fixture.store.record(matching: url) == other.record)
  }

  @Test func `a known URL loses its rate limit only on request`() throws {
    try fixture.add(url) { $0.bytesPerSecond = 5 }
    #expect(try fixture.add(url).record.bytesPerSecond == 5)
    #expect(try fixture.add(url) { $0.removesRateLimit = true }.record.bytesPerSecond == nil)
  }

  @Test(arguments: DownloadState.allCases)
  func `a paused request for a known URL that keeps its state is noted`(
    state: DownloadState
  ) throws {
    try fixture.add(url)
    try fixture.change(url) { $0.state = state }
    let isNoted = state != .paused && state != .completed
    #expect(try fixture.add(url) { $0.isPaused = true }.note == (isNoted ? .pauseIgnored : nil))
  }

  @Test(arguments: [DownloadState.paused, .failedPermanent, .failedRetryable])
  func `adding a paused or failed URL resumes it with its bytes and clears its failures`(
    state: DownloadState
  ) throws {
    try fixture.add(url)
    try fixture.change(url) { record in
      record.state = state
      record.intent = .pause
      record.isHeld = true
      record.failedAttempts = 3
      record.unresolvedStarts = 2
      record.nextRetryAt = .distantFuture
      record.received = 5
      record.expected = 9
      record.entityTag = "\"x\""
      record.generation = 7
    }
    fixture.now += 10
    let record = try fixture.add(url).record
    #expect(record.state == .waiting)
    #expect(record.intent == .run)
    #expect(!record.isHeld)
    #expect(record.failedAttempts == 0 && record.unresolvedStarts == 0)
    #expect(record.nextRetryAt == nil)
    #expect(record.received == 5 && record.expected == 9 && record.entityTag == "\"x\"")
    #expect(record.generation == 7)
    #expect(record.updatedAt == fixture.now)
  }

  @Test func `a record that is deleted and added again has a generation that it never had before`()
    throws
  {
    let url = "https://example.com/a"
    try fixture.add(url)
    for _ in 0..<5 { try fixture.change(url) { $0.generation += 1 } }
    let old = try fixture.store.record(matching: url)
    try fixture.store.objects.write { tx in _ = try tx.delete(DownloadRecord.self, key: url) }
    let new = try fixture.add(url).record
    #expect(new.id == old.id)
    #expect(new.generation > old.generation)
  }

  @Test(arguments: [DownloadState.waiting, .running, .finalizing])
  func `adding an active URL keeps its state and clears a stored command`(
    state: DownloadState
  ) throws {
    try fixture.add(url)
    let known = try fixture.change(url) { record in
      record.state = state
      record.received = 5
      record.unresolvedStarts = 2
    }
    #expect(try fixture.add(url).record == known)
    try fixture.change(url) { record in
      record.intent = .remove
      record.isHeld = true
    }
    let record = try fixture.add(url).record
    #expect(record.state == state && record.intent == .run && !record.isHeld)
    #expect(record.received == 5 && record.unresolvedStarts == 2)
  }

  @Test(arguments: [DownloadState.cancelled, .removed])
  func `adding a cancelled or removed URL starts over`(state: DownloadState) throws {
    try fixture.add(url)
    try fixture.change(url) { record in
      record.state = state
      record.intent = state == .removed ? .remove : .cancel
      record.received = 5
      record.expected = 9
      record.entityTag = "\"x\""
      record.lastModified = "yesterday"
      record.resumeData = Data([1])
      record.verifiedDigest = "sha256:"
      record.generation = 7
    }
    let record = try fixture.add(url).record
    #expect(record.state == .waiting && record.intent == .run)
    #expect(record.received == 0 && record.expected == nil)
    #expect(record.entityTag == nil && record.lastModified == nil)
    #expect(record.resumeData == nil && record.verifiedDigest == nil)
    // Late events of the old transfer must not be applied.
    #expect(record.generation == 8)
  }

  @Test(.requirements("ZY3", "FK27"))
  func `adding a URL whose finished file exists changes nothing`() throws {
    try fixture.add(url)
    let done = try fixture.finish(url)
    #expect(try fixture.add(url).record == done)
  }

  @Test func `adding a URL whose finished file was modified downloads it again`() throws {
    try fixture.add(url)
    let done = try fixture.finish(url)
    let path = try fixture.layout(of: done).finalPath
    try fixture.write("theirs", to: path)
    let added = try fixture.add(url)
    #expect(added.record.state == .waiting && added.note == .fileStays)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs")
  }

  @Test func `adding a URL whose finished file is missing downloads it again`() throws {
    try fixture.add(url)
    let done = try fixture.finish(url)
    try FileManager.default.removeItem(atPath: fixture.layout(of: done).finalPath)
    let record = try fixture.add(url).record
    #expect(record.state == .waiting)
    #expect(record.received == 0 && record.fileIdentity == nil && record.completedAt == nil)
    #expect(record.filename == done.filename)
  }

  @Test func `adding a URL whose finished file is in a missing folder changes nothing`() throws {
    try fixture.add(url)
    let done = try fixture.finish(url)
    let folder = try fixture.layout(of: done).folderPath
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "-unmounted")
    let added = try fixture.add(url)
    #expect(added.record == done && added.note == .folderUnreachable)
    try FileManager.default.moveItem(atPath: folder + "-unmounted", toPath: folder)
    #expect(try fixture.add(url).note == nil)
  }

  @Test func `tags and mirrors of a known URL are merged, and a digest replaces the previous one`()
    throws
  {
    try fixture.add(url) { request in
      request.tags = ["a", "b"]
      request.mirrors = ["https://one.example/"]
    }
    let digest = try Digest(String(repeating: "cd", count: 32))
    let record = try fixture.add(url) { request in
      request.tags = ["b", "c"]
      request.mirrors = ["https://two.example/", "https://one.example/"]
      request.digest = digest
    }
    .record
    #expect(record.tags == ["a", "b", "c"])
    #expect(record.mirrors == ["https://one.example/", "https://two.example/"])
    #expect(record.expectedDigest == digest.text)
    #expect(try fixture.add(url).record.expectedDigest == digest.text)
  }

  // MARK: Headers

  @Test func `headers are stored apart from the record`() throws {
    let secret = HeaderField(name: "Authorization", value: "Bearer x")
    let record = try fixture.add(url) { $0.headers = [secret, secret] }.record
    #expect(record.hasHeaders)
    #expect(try fixture.store.headers(of: record) == [secret, secret])
    #expect(!"\(record)".contains("Bearer"))
    let other = try fixture.add("https://example.com/b").record
    #expect(!other.hasHeaders)
    #expect(try fixture.store.headers(of: other) == [])
  }

  @Test
  func `new headers of a known URL replace the old ones; a request without headers keeps them`()
    throws
  {
    let old = HeaderField(name: "Cookie", value: "a=1")
    let new = HeaderField(name: "Cookie", value: "a=2")
    try fixture.add(url) { $0.headers = [old] }
    #expect(try fixture.store.headers(of: try fixture.add(url).record) == [old])
    let record = try fixture.add(url) { $0.headers = [new] }.record
    #expect(try fixture.store.headers(of: record) == [new])
  }

  // MARK: All or nothing

  @Test(.requirements("ZY2"), arguments: [true, false])
  func `an empty filename or type is rejected`(isName: Bool) throws {
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.add("https://example.com/a") { request in
        if isName { request.filename = "" } else { request.type = "" }
      }
    }
    #expect(error?.code == .invalidName)
    #expect(try fixture.store.records(DownloadRecord.all).isEmpty)
  }

  @Test(.requirements("ZY2")) func `one invalid request rejects the whole batch`() throws {
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.store.addNow([DownloadRequest(url: url), DownloadRequest(url: "file:///etc")])
    }
    #expect(error?.code == .invalidURL)
    #expect(try fixture.store.records(DownloadRecord.all) == [])
  }

  @Test(.requirements("ZY4")) func `a URL repeated in one batch becomes one record`() throws {
    let request = DownloadRequest(url: url)
    let added = try fixture.store.addNow([request, request])
    #expect(added.map(\.isNew) == [true, false])
    #expect(try fixture.store.records(DownloadRecord.all).count == 1)
  }

  @Test(arguments: ["/etc", "..", "a/../b", "a/..", "../\u{301}x", "a\u{0}b", "a\nb"])
  func `a folder outside the root is rejected`(folder: String) throws {
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.add(url) { $0.folder = folder }
    }
    #expect(error?.code == .invalidName)
    #expect(try fixture.store.records(DownloadRecord.all) == [])
  }

  @Test func `an invalid mirror is rejected`() throws {
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.add(url) { $0.mirrors = ["ftp://example.com/a"] }
    }
    #expect(error?.code == .invalidURL)
  }

  @Test func `an unknown root is rejected`() throws {
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.add(url) { $0.root = "elsewhere" }
    }
    #expect(error?.code == .missingRoot)
    #expect(try fixture.store.records(DownloadRecord.all) == [])
  }

  @Test(arguments: ["../../etc/passwd", "..\\..\\passwd", "/etc/passwd"])
  func `a filename that contains a path is reduced to its last component`(name: String) throws {
    #expect(try fixture.add(url) { $0.filename = name }.record.filename == "passwd")
  }
}
