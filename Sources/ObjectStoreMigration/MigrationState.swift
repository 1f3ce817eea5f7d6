internal import LMDB
internal import ObjectStoreCore
internal import SystemInterface

/// The position of a migration that is not complete, kept in the file that it writes.
struct MigrationCursor: Equatable {
  /// A digest of the store before the migration, the steps and the program.
  ///
  /// A migration continues only if it is the same.
  var fingerprint: UInt64
  /// The model that is being read; empty at the start.
  var model = ""
  /// The least object id that is not migrated.
  var next: UInt64 = 0
  var objectCount: UInt64 = 0

  static let key = "migration/cursor"
  private static let codingVersion: UInt8 = 1

  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(fingerprint)
    writer.writeSized(model)
    writer.write(next)
    writer.write(objectCount)
    return writer.bytes
  }

  init(fingerprint: UInt64) { self.fingerprint = fingerprint }

  init(encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    fingerprint = try reader.read()
    model = try reader.readSized(String.self)
    next = try reader.read()
    objectCount = try reader.read()
  }

  /// Reads the cursor in a new file; returns `nil` if it has none.
  static func stored(in environment: Environment) throws -> MigrationCursor? {
    try StoreOpening.databaseOpeningLock.withLock { _ in
      let transaction = try environment.beginRead()
      guard let database = try transaction.openDatabase(TableName.store) else { return nil }
      return try Metadata(database: database).migrationCursor(in: transaction)
    }
  }
}

/// The last migration of a store, kept in the store.
struct MigrationRecord: Equatable {
  /// The schema versions before and after it.
  var from: UInt32
  var to: UInt32
  /// The number of the commit that completed it, after which the history begins.
  var commit: UInt64
  /// The name of the file before the migration; empty if it was not kept.
  var previousFile: String

  static let key = MetadataKey.migration
  private static let codingVersion: UInt8 = 1

  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(from)
    writer.write(to)
    writer.write(commit)
    writer.writeSized(previousFile)
    return writer.bytes
  }

  init(from: UInt32, to: UInt32, commit: UInt64, previousFile: String) {
    self.from = from
    self.to = to
    self.commit = commit
    self.previousFile = previousFile
  }

  init(encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    from = try reader.read()
    to = try reader.read()
    commit = try reader.read()
    previousFile = try reader.readSized(String.self)
    // The rollback renames the file, which must be one of the store's own.
    let isOwn = previousFile.hasPrefix(MigrationFiles.previousNamePrefix)
    guard previousFile.isEmpty || isOwn && !previousFile.utf8.contains(UInt8(ascii: "/")) else {
      throw RecordError(.invalidValue)
    }
  }
}

extension Metadata {
  func migrationCursor(
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> MigrationCursor? {
    guard let value = try bytes(MigrationCursor.key, in: transaction) else { return nil }
    return try decode(value, "the position of the migration") { reader throws(RecordError) in
      try MigrationCursor(encoded: &reader)
    }
  }

  func migrationRecord(
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> MigrationRecord? {
    guard let value = try bytes(MigrationRecord.key, in: transaction) else { return nil }
    return try decode(value, "the record of the migration") { reader throws(RecordError) in
      try MigrationRecord(encoded: &reader)
    }
  }
}
