internal import ObjectStore

extension StoreTransaction {
  /// Deletes what the store has about a record besides the record itself.
  package mutating func deleteDetails(of record: DownloadRecord) throws {
    try delete(RequestHeaders.self, key: record.id)
    if record.hasPieceDigests { try delete(PieceDigests.self, key: record.id) }
  }
}
