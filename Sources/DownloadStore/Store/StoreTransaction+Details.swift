internal import ObjectStore

extension StoreTransaction {
  /// Stores a changed record, and deletes the digests of pieces that it does not refer to any more.
  package mutating func store(_ record: DownloadRecord, after old: DownloadRecord) throws {
    try upsert(record)
    if old.hasPieceDigests, !record.hasPieceDigests {
      try delete(PieceDigests.self, key: record.id)
    }
  }

  /// Deletes what the store has about a record besides the record itself.
  package mutating func deleteDetails(of record: DownloadRecord) throws {
    try delete(RequestHeaders.self, key: record.id)
    if record.hasPieceDigests { try delete(PieceDigests.self, key: record.id) }
  }
}
