import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

@testable import DownloadStore

@Suite struct StoredRecordTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A record in which no field has its default value.
  static var full: DownloadRecord {
    let moment = Date(timeIntervalSince1970: 1_700_000_000.25)
    var record = DownloadRecord(
      url: "https://example.com/ä?b=c",
      id: "0123456789abcdef",
      filename: "日本.tar.gz",
      folder: "a/b",
      root: "disk",
      destination: "disk/a/b/日本.tar.gz",
      type: "gz",
      state: .failedRetryable,
      intent: .pause,
      tags: ["x", "y", ""],
      priority: -7,
      received: 1 << 40,
      expected: (1 << 40) + 1,
      entityTag: "W/\"x\"",
      lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
      resumeData: Data([0, 255, 1]),
      mirrors: ["https://one.example/", "https://two.example/"],
      expectedDigest: "sha256:aa",
      verifiedDigest: "sha256:bb",
      nextRetryAt: moment + 1,
      createdAt: moment + 2,
      updatedAt: moment + 3,
      completedAt: moment + 4,
      hasHeaders: true,
      fileIdentity: FileIdentity(size: .max, inode: .max, modified: .min)
    )
    record.isHeld = true
    record.failedAttempts = 3
    record.attempts = DownloadFailure.Code.allCases.map { code in
      Attempt(at: moment, url: "u", failure: DownloadFailure(code, "why: ä"), received: 9)
    }
    record.generation = .max
    record.unresolvedStarts = 2
    record.resolvedBytes = 77
    record.startsImmediately = true
    record.removesFile = true
    record.replacedFileIdentity = FileIdentity(size: 4, inode: 5, modified: 6)
    record.isNameGiven = true
    record.allowsCellular = false
    record.prefersBackground = true
    record.pendingHooks = Set(DownloadHook.allCases)
    record.bytesPerSecond = 1 << 20
    record.notBefore = moment + 5
    record.ranges = Data([1, 2])
    record.connections = 8
    record.hasPieceDigests = true
    record.partialWrittenAt = moment + 6
    record.hasForeignFile = true
    record.partialIdentity = FileIdentity(size: 7, inode: 8, modified: 9)
    record.validatorOrigin = "https://cdn.example:443"
    record.refreshed = FinishedVersion(
      entityTag: "\"1\"",
      lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
      validatorOrigin: "https://cdn.example:443",
      verifiedDigest: "sha256:" + String(repeating: "0", count: 64),
      completedAt: moment + 7,
      hasPieceDigests: true,
      awaitsHook: true,
      awaitsWebhook: true
    )
    record.checkedAt = moment + 8
    record.keys = ["sha256:0"]
    record.requiresName = true
    record.refreshEvery = 86_400
    record.refreshDates = [moment + 9]
    record.keepVersions = 3
    record.keptVersions = [
      KeptVersion(
        number: 2,
        filename: "a.~2~",
        identity: FileIdentity(size: 1, inode: 2, modified: 3)
      )
    ]
    return record
  }

  @Test(.requirements("ZY1", "SC2")) func `every field of a record round-trips`() throws {
    let store = try RecordStore(at: folder.path)
    let record = Self.full
    try store.objects.write { try $0.insert(record) }
    #expect(try store.record(matching: record.url) == record)
  }

  @Test func `no field of the full record has its default value`() {
    let full = Mirror(reflecting: Self.full).children
    var empty = Self.full
    empty.isHeld = false
    empty.hasHeaders = false
    empty.isNameGiven = false
    #expect(full.count == DownloadRecord.schema.fields.count)
    for (label, value) in full {
      let text = "\(value)"
      let defaults = label == "allowsCellular" ? ["true"] : ["nil", "0", "false", "", "[]"]
      let isDefault = defaults.contains(text)
      #expect(!isDefault, "\(label ?? "") is \(text)")
    }
  }

  @Test func `every optional field may be nil`() throws {
    var record = Self.full
    record.expected = nil
    record.entityTag = nil
    record.lastModified = nil
    record.resumeData = nil
    record.expectedDigest = nil
    record.verifiedDigest = nil
    record.nextRetryAt = nil
    record.completedAt = nil
    record.fileIdentity = nil
    record.bytesPerSecond = nil
    record.notBefore = nil
    record.ranges = nil
    record.connections = nil
    record.partialWrittenAt = nil
    record.partialIdentity = nil
    record.validatorOrigin = nil
    record.refreshed = nil
    record.checkedAt = nil
    record.keys = []
    record.refreshEvery = nil
    record.refreshDates = []
    record.keepVersions = nil
    record.keptVersions = []
    record.pendingHooks = []
    record.tags = []
    record.mirrors = []
    record.attempts = []
    let store = try RecordStore(at: folder.path)
    try store.objects.write { [record] in try $0.insert(record) }
    #expect(try store.record(matching: record.url) == record)
  }

  @Test func `each state and intent round-trips`() throws {
    let store = try RecordStore(at: folder.path)
    for state in DownloadState.allCases {
      for intent in DownloadIntent.allCases {
        var record = Self.full
        record.state = state
        record.intent = intent
        try store.objects.write { [record] in _ = try $0.upsert(record) }
        #expect(try store.record(matching: record.url) == record)
      }
    }
  }

  @Test func `headers and roots round-trip`() throws {
    let store = try RecordStore(at: folder.path)
    let headers = RequestHeaders(
      recordID: "0123456789abcdef",
      fields: [HeaderField(name: "A", value: "1"), HeaderField(name: "", value: "ä")],
      origin: "https://example.com:443"
    )
    let root = Root(name: "disk", path: "/mnt/ä")
    try store.objects.write { tx in
      try tx.insert(headers)
      try tx.insert(root)
    }
    try store.objects.read { tx in
      let storedHeaders = try tx.find(RequestHeaders.self, key: headers.recordID)
      let storedRoot = try tx.find(Root.self, key: root.name)
      #expect(storedHeaders == headers)
      #expect(storedRoot == root)
    }
  }

  @Test func `common queries of commands and engines use an index`() throws {
    let store = try RecordStore(at: folder.path)
    try store.objects.write { try $0.insert(Self.full) }
    try store.objects.read { tx in
      let plans = [
        try tx.explain(DownloadRecord.where { $0.id.hasPrefix("01") }),
        try tx.explain(DownloadRecord.where { $0.destination == "x" }),
        try tx.explain(DownloadRecord.where { $0.tags.contains("x") }),
        try tx.explain(DownloadRecord.where { $0.type == "gz" }),
        try tx.explain(DownloadRecord.where { $0.pendingHooks.contains(.completion) }),
        try tx.explain(DownloadRecord.where { $0.state.isIn(DownloadState.active) }),
      ]
      #expect(plans.allSatisfy { $0.description.hasPrefix("index (") }, "\(plans)")
    }
  }
}
