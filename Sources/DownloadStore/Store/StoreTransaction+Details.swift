package import ObjectStore

extension ObjectReader where Self: ~Copyable {
  /// Restores the size that the publisher of a file requires, after a change that has dropped it.
  ///
  /// A download that starts again forgets what its server has stated, and a response may state no
  /// size.
  func restoreRequiredSize(of record: inout DownloadRecord) throws {
    guard record.expected == nil, record.hasPieceDigests,
      let pieces = try find(PieceDigests.self, key: record.id), pieces.isRequired
    else { return }
    record.requireSize(pieces.byteCount)
  }
}

extension StoreTransaction {
  /// Stores a changed record with the size that the publisher of its file requires, and deletes the
  /// digests of pieces that it does not refer to any more.
  ///
  /// - Parameters:
  ///   - record: The record after the change.
  ///   - old: The record before it.
  /// - Returns: The record as it is stored.
  /// - Throws: `StoreError`.
  @discardableResult
  package mutating func store(
    _ record: DownloadRecord,
    after old: DownloadRecord
  ) throws -> DownloadRecord {
    var record = record
    try restoreRequiredSize(of: &record)
    try upsert(record)
    if old.hasPieceDigests, !record.hasPieceDigests {
      try delete(PieceDigests.self, key: record.id)
    }
    return record
  }

  /// Deletes what the store has about a record besides the record itself.
  package mutating func deleteDetails(of record: DownloadRecord) throws {
    try delete(RequestHeaders.self, key: record.id)
    if record.hasPieceDigests { try delete(PieceDigests.self, key: record.id) }
  }
}
