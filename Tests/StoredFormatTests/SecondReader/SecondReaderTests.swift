import DownloadStore
import Foundation
import LMDB
import ObjectStore
import TestSupport
import Testing

@Suite struct SecondReaderTests {
  private static let moment = Date(timeIntervalSinceReferenceDate: 700_000_000.123456)

  /// Creates a store with records added by `add`, one of which has a value in every field.
  private func makeStore(in folder: TemporaryFolder) throws -> RecordStore {
    let store = try RecordStore(at: folder.path, now: { Self.moment })
    try store.setRoot("/srv/downloads")
    let elsewhere = try store.root(at: "/srv/\u{FC}ber all")
    var full = DownloadRequest(url: "https://example.com/" + String(repeating: "x", count: 1_980))
    full.folder = "books/\u{65E5}\u{672C}"
    full.root = elsewhere
    full.type = "e\u{301}\u{1F4DA}"
    full.tags = Set((0..<200).map { "tag \($0)" } + ["\u{E9}", "\u{10FFFF}", ""])
    full.priority = -7
    full.mirrors = ["https://example.org/a", "http://example.net/b"]
    full.digest = try Digest(String(repeating: "aB", count: 32))
    full.headers = [
      HeaderField(name: "Authorization", value: "Bearer \u{3C0}"),
      HeaderField(name: "X-Empty", value: ""),
    ]
    try store.addNow(
      [full] + (0..<300).map { DownloadRequest(url: "https://example.com/\($0).zip") }
    )
    try store.objects.write { tx in
      try tx.update(DownloadRecord.self, key: full.url) { $0.fillAllFields() }
      for number in stride(from: 0, to: 300, by: 3) {
        try tx.delete(DownloadRecord.self, key: "https://example.com/\(number).zip")
      }
      // Deletes the last record too, whose object id must not be reused.
      try tx.delete(DownloadRecord.self, key: "https://example.com/299.zip")
      for (number, state) in DownloadState.allCases.enumerated() {
        let url = "https://example.com/\(3 * number + 1).zip"
        try tx.update(DownloadRecord.self, key: url) { record in
          record.state = state
          record.received = Int64(number) << 40
        }
      }
    }
    try store.addNow([DownloadRequest(url: "https://example.com/again.zip")])
    return store
  }

  @Test func `the second reader reads every field of every record`() throws {
    let folder = try TemporaryFolder()
    let store = try makeStore(in: folder)
    let report = try SecondReader.read(folder.path)
    #expect(report.problems == "")
    #expect(report.status == 0)

    let records = try store.records(DownloadRecord.all)
    let lines = report.lines.filter { $0.model == "DownloadRecord" }
    #expect(records.count == 201)
    #expect(lines.map(\.object).sorted() == lines.map(\.object))
    #expect(lines.last?.object == 302)
    // Both lists are in the order of object ids.
    for (line, record) in zip(lines, records) { #expect(line.fields == record.printed) }
    #expect(lines.count == records.count)
    #expect(
      lines.first.map { Set($0.fields.keys) } == Set(DownloadRecord.schema.fields.map(\.name))
    )
    #expect(lines.first?.fields.values.contains(.null) == false)
    #expect(lines.allSatisfy { $0.layout == 1 })

    let full = try #require(records.first)
    let others = report.lines.filter { $0.model != "DownloadRecord" }
    let roots = [("default", "/srv/downloads"), (full.root, "/srv/\u{FC}ber all")]
    let headers = try store.headers(of: full)
    #expect(headers.count == 2)
    let expected =
      [
        SecondReader.Line(
          fields: [
            "recordID": JSON(full.id), "fields": .list(headers.map(\.printed)),
            "origin": JSON("https://example.com:443"),
          ],
          layout: 1,
          model: "RequestHeaders",
          object: 1
        )
      ]
      + roots.enumerated().map { index, root in
        SecondReader.Line(
          fields: ["name": JSON(root.0), "path": JSON(root.1)],
          layout: 1,
          model: "Root",
          object: UInt64(index + 1)
        )
      }
    #expect(others == expected)
  }

  @Test func `the second reader reads every type, and fields unknown to an older program`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [Sample.self])
    var samples = Sample.samples
    try store.write { tx in
      for sample in samples { try tx.insert(sample) }
    }
    let before = try SecondReader.read(folder.path)
    #expect(before.problems == "")
    #expect(before.status == 0)
    #expect(before.lines.map(\.fields) == samples.map(\.printed))
    #expect(before.lines.map(\.layout) == [1, 1])

    let older = try Store(at: folder.path, models: [OlderSample.self])
    let added = OlderSample(key: UUID(), caption: nil)
    try older.write { tx in
      try tx.update(OlderSample.self, key: samples[0].key) { $0.caption = "changed" }
      try tx.insert(added)
    }
    samples[0].text = "changed"
    let after = try SecondReader.read(folder.path)
    #expect(after.problems == "")
    #expect(after.status == 0)
    #expect(after.lines.map(\.layout) == [2, 1, 2])
    var printed = samples.map(\.printed)
    // The field has the name of the newest layout.
    for index in printed.indices {
      printed[index]["caption"] = printed[index].removeValue(forKey: "text")
    }
    // The fields that the older program does not know have their defaults, if they have any.
    var fields = Sample(key: added.key).printed
    for name in ["text", "list", "header", "price"] { fields[name] = nil }
    fields["caption"] = .null
    printed.append(fields)
    #expect(after.lines.map(\.fields) == printed)
    #expect(try store.read { tx in try tx.find(Sample.self, key: samples[0].key) } == samples[0])
  }

  @Test
  func `the second reader decodes the ranges of a partial file, unless they contradict the record`()
    throws
  {
    let longest = [UInt8](repeating: 0xFF, count: 8) + [0x7F]
    // The bytes, `received`, and the ranges that count.
    let cases: [(bytes: [UInt8], received: Int64, counted: [[Int64]])] = [
      ([0, 1, 0x80, 1, 0xFF, 1], 256, [[0, 1], [129, 384]]),
      ([7, 3], 3, [[7, 10]]),
      ([1] + longest.dropLast() + [0x3F], .max >> 1, [[1, 1 + .max >> 1]]),
      (
        Array(ByteRanges((1...256).map { 2 * $0..<2 * $0 + 1 }).encoded), 256,
        (1...256).map { [2 * $0, 2 * $0 + 1] }
      ),
      // One range too many.
      ((0...256).flatMap { _ in [1, 1] as [UInt8] }, 257, []),
      // Another sum, a single range from 0, and no range.
      ([7, 3], 4, []), ([0, 3], 3, []), ([], 0, []),
      // A distance of 0 after the first range, and a length of 0.
      ([1, 1, 0, 1], 2, []), ([1, 0], 0, []),
      // A number that is not in its shortest form, is too long, or is not complete.
      ([0x81, 0, 1], 1, []), ([1] + longest.dropLast() + [0xFF, 1], 1, []), ([1, 0x80], 0, []),
      // The end does not fit, or is after that of the file.
      ([2] + longest, .max, []), ([1 << 6, 0x80, 0x80, 0x40], 1 << 20, []),
    ]
    let folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path, now: { Self.moment })
    let urls = cases.indices.map { "https://example.com/\($0)" }
    try store.addNow(urls.map { DownloadRequest(url: $0) })
    try store.objects.write { tx in
      for (url, given) in zip(urls, cases) {
        try tx.update(DownloadRecord.self, key: url) { record in
          record.received = given.received
          record.ranges = Data(given.bytes)
          record.expected = given.received == 1 << 20 ? 1 << 20 : nil
        }
      }
    }
    let report = try SecondReader.read(folder.path)
    #expect(report.status == 0)
    let lines = report.lines.filter { $0.model == "DownloadRecord" }
    #expect(lines.count == cases.count)
    for (line, given) in zip(lines, cases) {
      let counted = JSON.list(given.counted.map { .list($0.map { JSON($0) }) })
      #expect(line.fields["ranges"] == counted, "\(given.bytes)")
    }
    // The store's own code agrees.
    for (line, record) in zip(lines, try store.records(DownloadRecord.all)) {
      #expect(line.fields == record.printed)
    }
  }

  @Test func `the second reader reads a model that is stored by key`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [KeyedSample.self])
    let samples = Sample.samples
    try store.write { tx in
      for sample in samples { try tx.insert(KeyedSample(sample: sample)) }
    }
    // Deleted and inserted again: the history has a replacement.
    try store.write { tx in
      try tx.delete(KeyedSample.self, key: samples[0].key)
      try tx.insert(KeyedSample(sample: samples[0]))
    }
    let report = try SecondReader.read(folder.path)
    #expect(report.problems == "")
    #expect(report.status == 0)
    #expect(report.lines.count == samples.count)
    for sample in samples { #expect(report.lines.contains { $0.fields == sample.printed }) }

    let environment = try Environment.open(folder.path)
    var transaction = try environment.beginWrite()
    let table = try transaction.createDatabase("KeyedSample/keyed", keys: .integers)
    try transaction.removeAll(in: table)
    try transaction.commit()
    let damaged = try SecondReader.read(folder.path)
    #expect(damaged.status == 65)
    #expect(damaged.problems.contains("belongs to no record"))
  }

  @Test func `format.md describes every field of the records`() throws {
    let page = try String(contentsOfFile: "\(SecondReader.root)/docs/format.md", encoding: .utf8)
    for model in RecordStore.models {
      for field in model.schema.fields {
        #expect(page.contains("`\(field.name)`"), "\(model.schema.name).\(field.name)")
      }
    }
  }

  @Test func `a store contains the example bytes of format.md`() throws {
    let page = try String(contentsOfFile: "\(SecondReader.root)/docs/format.md", encoding: .utf8)
    let example = try #require(page.components(separatedBy: "```").first { $0.hasPrefix("text") })
    let bytes = example.split(separator: "\n").dropFirst().flatMap { line in
      line.components(separatedBy: "   ")[0].split(separator: " ").map { UInt8($0, radix: 16) }
    }
    #expect(bytes.count == 20 && !bytes.contains(nil))
    let folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path)
    try store.setRoot("/b", named: "a")
    let file = try Data(contentsOf: URL(filePath: "\(folder.path)/data.mdb"))
    #expect(file.range(of: Data(bytes.compactMap(\.self))) != nil)
  }

  @Test(arguments: ["entity tag", "key", "hot"])
  func `the second reader finds a flipped byte in a record`(part: String) throws {
    let folder = try TemporaryFolder()
    var pattern = ByteWriter()
    do {
      let store = try makeStore(in: folder)
      let record = try #require(try store.records(DownloadRecord.all).first)
      switch part {
      case "entity tag": pattern.write((record.entityTag ?? "").utf8)
      case "key": pattern.write(record.url.utf8)
      default: pattern.write(record.resolvedBytes)
      }
    }
    let file = URL(filePath: "\(folder.path)/data.mdb")
    var bytes = try Data(contentsOf: file)
    var start = bytes.startIndex
    // Free pages may contain the pattern too.
    while let found = bytes.range(of: Data(pattern.bytes), in: start..<bytes.endIndex) {
      bytes[found.upperBound - 1] ^= 0x10
      start = found.upperBound
    }
    #expect(start > 0)
    try bytes.write(to: file)
    let report = try SecondReader.read(folder.path)
    #expect(report.status == 65)
    let damage = part == "hot" ? "chunk 0 of DownloadRecord/hot" : "object 1 of DownloadRecord"
    #expect(report.problems.hasPrefix("damaged: \(damage): the checksum does not match\n"))
    // An unreadable chunk loses the hot parts of all of its objects.
    let lost = part == "hot" ? 21 : 1
    #expect(report.problems.split(separator: "\n").count == (part == "hot" ? 1 + lost : lost))
    #expect(report.lines.count { $0.model == "DownloadRecord" } == 201 - lost)
  }

  @Test func `the second reader finds duplicates in a unique index`() throws {
    let folder = try TemporaryFolder()
    let store = try makeStore(in: folder)
    let environment = try Environment.open(store.path)
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase("store")
    // Marks the index on `state`, which has duplicates, as unique.
    let key = Array("index/DownloadRecord/8".utf8)
    var description = try transaction.withValue(for: key.span, in: database) { value in
      guard let value else { return [UInt8]() }
      return value.indices.map { value[$0] }
    }
    #expect(description[1] == 0)
    description[1] = 1
    try transaction.put(description.span, for: key.span, in: database)
    try transaction.commit()
    let report = try SecondReader.read(folder.path)
    #expect(report.status == 65)
    #expect(report.problems.contains("has its values in unique index 8\n"))
  }

  @Test(arguments: [
    ("DownloadRecord/hot", Database.Keys.integers), ("DownloadRecord/keys", .integers),
    ("DownloadRecord/index/8", .bytes), ("store", .bytes),
  ])
  func `the second reader finds a table without its entries`(
    name: String,
    keys: Database.Keys
  ) throws {
    let folder = try TemporaryFolder()
    let store = try makeStore(in: folder)
    let environment = try Environment.open(store.path)
    var transaction = try environment.beginWrite()
    try transaction.removeAll(in: try transaction.createDatabase(name, keys: keys))
    try transaction.commit()
    let report = try SecondReader.read(folder.path)
    #expect(report.status == 65)
    #expect(report.problems.hasPrefix("damaged: "))
  }
}

extension DownloadRecord {
  /// Sets every field that `add` leaves empty.
  fileprivate mutating func fillAllFields() {
    received = 1 << 40
    expected = .max
    entityTag = "\"an entity tag that occurs only here\""
    lastModified = "Sat, 01 Jan 2000 00:00:00 GMT"
    resumeData = Data([0, 255, 1, 0])
    verifiedDigest = "sha256:" + String(repeating: "0", count: 64)
    isHeld = true
    failedAttempts = 3
    attempts = (0..<Attempt.limit).map { number in
      let message = number == 0 ? "" : "503 \u{1F622}"
      let detail: DownloadFailure.Detail? = number == 0 ? nil : .proxy
      let failure = DownloadFailure(.serverBusy, message, detail: detail)
      return Attempt(
        at: createdAt.addingTimeInterval(Double(number) / 3),
        url: "https://example.org/\(number)",
        failure: failure,
        received: Int64(number) - 1
      )
    }
    nextRetryAt = createdAt.addingTimeInterval(0.1)
    generation = .max
    updatedAt = createdAt.addingTimeInterval(1)
    completedAt = createdAt.addingTimeInterval(2)
    unresolvedStarts = .min
    resolvedBytes = 0x0123_4567_89AB_CDEF
    fileIdentity = FileIdentity(size: 5, inode: .max, modified: -1)
    startsImmediately = true
    removesFile = true
    replacedFileIdentity = FileIdentity(size: .min, inode: 0, modified: .max)
    allowsCellular = false
    prefersBackground = true
    pendingHooks = Set(DownloadHook.allCases)
    bytesPerSecond = .max
    notBefore = createdAt.addingTimeInterval(-0.5)
    ranges = ByteRanges([0..<1, 129..<(1 << 40) + 128]).encoded
    connections = .max
    partialWrittenAt = createdAt.addingTimeInterval(3)
    hasForeignFile = true
    partialIdentity = FileIdentity(size: 1, inode: 2, modified: 3)
    validatorOrigin = "https://cdn.example:443"
    refreshed = FinishedVersion(
      entityTag: "\"1\"",
      validatorOrigin: "https://cdn.example:443",
      completedAt: createdAt,
      hasPieceDigests: true,
      awaitsWebhook: true
    )
    checkedAt = createdAt.addingTimeInterval(4)
    keys = ["sha256:0", "models/tiny@v2"]
    refreshEvery = .max
    refreshDates = [createdAt.addingTimeInterval(5)]
    keepVersions = .max
    keptVersions = [
      KeptVersion(
        number: .max,
        filename: "a.~1~",
        identity: FileIdentity(size: 1, inode: .max, modified: -1)
      )
    ]
  }
}
