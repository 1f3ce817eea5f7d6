import Foundation
import Migrations
import ObjectStore
import TestSupport
import Testing

@testable import DownloadStore

/// The fields of a ``DownloadRecord``, read by their ids and types only.
private struct RecordByIDs: Model {
  struct Columns {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "DownloadRecord",
    fields: [
      FieldSchema("f1", String.self, id: 1, isPrimaryKey: true),
      FieldSchema("f2", String.self, id: 2),
      FieldSchema("f3", String.self, id: 3),
      FieldSchema("f4", String.self, id: 4),
      FieldSchema("f5", String.self, id: 5),
      FieldSchema("f6", String.self, id: 6),
      FieldSchema("f7", String.self, id: 7),
      FieldSchema("f8", String.self, id: 8),
      FieldSchema("f9", String.self, id: 9),
      FieldSchema("f10", Set<String>.self, id: 10),
      FieldSchema("f11", Int32.self, id: 11),
      FieldSchema("f12", Int64.self, id: 12),
      FieldSchema("f13", Int64.self, id: 13, isOptional: true),
      FieldSchema("f14", String.self, id: 14, isOptional: true),
      FieldSchema("f15", String.self, id: 15, isOptional: true),
      FieldSchema("f16", Data.self, id: 16, isOptional: true),
      FieldSchema("f17", [String].self, id: 17),
      FieldSchema("f18", String.self, id: 18, isOptional: true),
      FieldSchema("f19", String.self, id: 19, isOptional: true),
      FieldSchema("f20", Bool.self, id: 20),
      FieldSchema("f21", Int32.self, id: 21),
      FieldSchema("f22", [Attempt].self, id: 22),
      FieldSchema("f23", Date.self, id: 23, isOptional: true),
      FieldSchema("f24", Int64.self, id: 24),
      FieldSchema("f25", Date.self, id: 25),
      FieldSchema("f26", Date.self, id: 26),
      FieldSchema("f27", Date.self, id: 27, isOptional: true),
      FieldSchema("f28", Bool.self, id: 28),
      FieldSchema("f29", Int32.self, id: 29),
      FieldSchema("f30", FileIdentity.self, id: 30, isOptional: true),
      FieldSchema("f31", Int64.self, id: 31),
      FieldSchema("f32", Bool.self, id: 32),
      FieldSchema("f33", Bool.self, id: 33),
      FieldSchema("f34", FileIdentity.self, id: 34, isOptional: true),
      FieldSchema("f35", Bool.self, id: 35),
      FieldSchema("f36", Bool.self, id: 36),
      FieldSchema("f37", Bool.self, id: 37),
      FieldSchema("f38", Set<String>.self, id: 38),
      FieldSchema("f39", Int64.self, id: 39, isOptional: true),
      FieldSchema("f40", Date.self, id: 40, isOptional: true),
      FieldSchema("f41", Data.self, id: 41, isOptional: true),
      FieldSchema("f42", Int32.self, id: 42, isOptional: true),
      FieldSchema("f43", Bool.self, id: 43),
      FieldSchema("f44", Date.self, id: 44, isOptional: true),
      FieldSchema("f45", Bool.self, id: 45),
      FieldSchema("f46", FileIdentity.self, id: 46, isOptional: true),
      FieldSchema("f47", String.self, id: 47, isOptional: true),
      FieldSchema("f48", FinishedVersion.self, id: 48, isOptional: true),
      FieldSchema("f49", Date.self, id: 49, isOptional: true),
      FieldSchema("f50", Set<String>.self, id: 50),
      FieldSchema("f51", Bool.self, id: 51),
      FieldSchema("f52", Int64.self, id: 52, isOptional: true),
      FieldSchema("f53", Set<Date>.self, id: 53),
      FieldSchema("f54", Int32.self, id: 54, isOptional: true),
      FieldSchema("f55", [KeptVersion].self, id: 55),
    ]
  )

  /// The values as strings, in the order of their ids, starting with id 1.
  var values: [String]
  var primaryKey: String { values[0] }

  init(from record: borrowing RecordView) throws(RecordError) {
    values = [
      "\(try record.value(at: 0) as String)",
      "\(try record.value(at: 1) as String)",
      "\(try record.value(at: 2) as String)",
      "\(try record.value(at: 3) as String)",
      "\(try record.value(at: 4) as String)",
      "\(try record.value(at: 5) as String)",
      "\(try record.value(at: 6) as String)",
      "\(try record.value(at: 7) as String)",
      "\(try record.value(at: 8) as String)",
      "\((try record.value(at: 9) as Set<String>).sorted())",
      "\(try record.value(at: 10) as Int32)",
      "\(try record.value(at: 11) as Int64)",
      "\(try record.optional(at: 12) as Int64? ?? -1)",
      "\(try record.optional(at: 13) as String? ?? "-")",
      "\(try record.optional(at: 14) as String? ?? "-")",
      "\((try record.optional(at: 15) as Data?).map(Array.init) ?? [])",
      "\(try record.value(at: 16) as [String])",
      "\(try record.optional(at: 17) as String? ?? "-")",
      "\(try record.optional(at: 18) as String? ?? "-")",
      "\(try record.value(at: 19) as Bool)",
      "\(try record.value(at: 20) as Int32)",
      "\((try record.value(at: 21) as [Attempt]).map(\.url))",
      Self.seconds(try record.optional(at: 22)),
      "\(try record.value(at: 23) as Int64)",
      Self.seconds(try record.value(at: 24) as Date),
      Self.seconds(try record.value(at: 25) as Date),
      Self.seconds(try record.optional(at: 26)),
      "\(try record.value(at: 27) as Bool)",
      "\(try record.value(at: 28) as Int32)",
      "\((try record.optional(at: 29) as FileIdentity?)?.inode ?? 0)",
      "\(try record.value(at: 30) as Int64)",
      "\(try record.value(at: 31) as Bool)",
      "\(try record.value(at: 32) as Bool)",
      "\((try record.optional(at: 33) as FileIdentity?)?.inode ?? 0)",
      "\(try record.value(at: 34) as Bool)",
      "\(try record.value(at: 35) as Bool)",
      "\(try record.value(at: 36) as Bool)",
      "\((try record.value(at: 37) as Set<String>).sorted())",
      "\(try record.optional(at: 38) as Int64? ?? -1)",
      Self.seconds(try record.optional(at: 39)),
      "\((try record.optional(at: 40) as Data?).map(Array.init) ?? [])",
      "\(try record.optional(at: 41) as Int32? ?? -1)",
      "\(try record.value(at: 42) as Bool)",
      Self.seconds(try record.optional(at: 43)),
      "\(try record.value(at: 44) as Bool)",
      "\((try record.optional(at: 45) as FileIdentity?)?.inode ?? 0)",
      "\(try record.optional(at: 46) as String? ?? "")",
      Self.seconds((try record.optional(at: 47) as FinishedVersion?)?.completedAt),
      Self.seconds(try record.optional(at: 48)),
      "\((try record.value(at: 49) as Set<String>).sorted())",
      "\(try record.value(at: 50) as Bool)",
      "\(try record.optional(at: 51) as Int64? ?? -1)",
      Self.seconds((try record.value(at: 52) as Set<Date>).first),
      "\(try record.optional(at: 53) as Int32? ?? -1)",
      "\((try record.value(at: 54) as [KeptVersion]).map(\.filename))",
    ]
  }

  func encode(to record: inout RecordEncoder) {
    preconditionFailure("RecordByIDs is read-only")
  }

  private static func seconds(_ date: Date?) -> String {
    "\(date?.timeIntervalSince1970 ?? -1)"
  }
}

@Suite struct StoredLayoutTests {
  @Test func `every field of a stored record can be read by its id`() throws {
    let folder = try TemporaryFolder()
    let moment = Date(timeIntervalSince1970: 1_000)
    var record = DownloadRecord(
      url: "v1",
      id: "v2",
      filename: "v3",
      folder: "v4",
      root: "v5",
      destination: "v6",
      type: "v7",
      state: .finalizing,
      intent: .cancel,
      tags: ["v10"],
      priority: 11,
      received: 12,
      expected: 13,
      entityTag: "v14",
      lastModified: "v15",
      resumeData: Data([16]),
      mirrors: ["v17"],
      expectedDigest: "v18",
      verifiedDigest: "v19",
      nextRetryAt: moment + 23,
      createdAt: moment + 25,
      updatedAt: moment + 26,
      completedAt: moment + 27,
      fileIdentity: FileIdentity(size: 0, inode: 30, modified: 0)
    )
    record.isHeld = true
    record.failedAttempts = 21
    record.attempts = [
      Attempt(at: moment, url: "v22", failure: DownloadFailure(.unknown, ""), received: 0)
    ]
    record.generation = 24
    record.hasHeaders = true
    record.unresolvedStarts = 29
    record.resolvedBytes = 31
    record.startsImmediately = true
    record.removesFile = true
    record.replacedFileIdentity = FileIdentity(size: 0, inode: 34, modified: 0)
    record.isNameGiven = true
    record.allowsCellular = false
    record.prefersBackground = true
    record.pendingHooks = [.failure]
    record.bytesPerSecond = 39
    record.notBefore = moment + 40
    record.ranges = Data([41])
    record.connections = 42
    record.hasPieceDigests = true
    record.partialWrittenAt = moment + 44
    record.hasForeignFile = true
    record.partialIdentity = FileIdentity(size: 0, inode: 46, modified: 0)
    record.validatorOrigin = "v47"
    record.refreshed = FinishedVersion(
      entityTag: "\"1\"",
      completedAt: moment + 48,
      hasPieceDigests: false
    )
    record.checkedAt = moment + 49
    record.keys = ["v50"]
    record.requiresName = true
    record.refreshEvery = 52
    record.refreshDates = [moment + 53]
    record.keepVersions = 54
    record.keptVersions = [
      KeptVersion(
        number: 1,
        filename: "v55",
        identity: FileIdentity(size: 0, inode: 55, modified: 0)
      )
    ]
    let store = try RecordStore(at: folder.path)
    try store.objects.write { [record] in try $0.insert(record) }

    let other = try Store(
      at: folder.path,
      models: [RecordByIDs.self],
      options: StoreOptions(access: .readOnly, schemaVersion: DownloadMigrations.currentVersion)
    )
    let values = try other.read { try $0.find(RecordByIDs.self, key: "v1")?.values }
    #expect(
      values == [
        "v1", "v2", "v3", "v4", "v5", "v6", "v7", "finalizing", "cancel", "[\"v10\"]", "11", "12",
        "13", "v14", "v15", "[16]", "[\"v17\"]", "v18", "v19", "true", "21", "[\"v22\"]", "1023.0",
        "24", "1025.0", "1026.0", "1027.0", "true", "29", "30", "31",
        "true", "true", "34", "true", "false", "true", "[\"error\"]", "39", "1040.0", "[41]", "42",
        "true", "1044.0", "true", "46", "v47", "1048.0", "1049.0", "[\"v50\"]", "true",
        "52", "1053.0", "54", "[\"v55\"]",
      ]
    )
  }

  @Test func `the test covers every field id of the record`() {
    let written = Set(RecordByIDs.schema.fields.map(\.id))
    #expect(written == Set(DownloadRecord.schema.fields.map(\.id)))
  }

  @Test func `a store records the schema version that wrote it`() throws {
    let folder = try TemporaryFolder()
    _ = try RecordStore(at: folder.path)
    let older = try Store(
      at: folder.path,
      models: [Root.self],
      options: StoreOptions(schemaVersion: DownloadMigrations.currentVersion - 1)
    )
    #expect(older.isReadOnly)
  }
}
