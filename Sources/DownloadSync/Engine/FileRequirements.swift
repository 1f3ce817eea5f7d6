internal import DownloadStore
internal import Foundation
internal import ObjectStore

// What the store requires of a file may change while its bytes arrive, and while they are read. So the
// transaction that counts the bytes, logs the rename or fails the attempt compares it with what the
// transfer knows.

extension ObjectReader where Self: ~Copyable {
  /// Returns the pieces or the size that the store requires of a file; `nil` if there are none, or if a
  /// transfer compares its bytes with them.
  ///
  /// A request states them only for a record of which no byte counts, so the bytes of that transfer
  /// must not begin to count.
  ///
  /// - Parameters:
  ///   - record: The stored record.
  ///   - known: The digests of the transfer.
  /// - Returns: The pieces or the size.
  /// - Throws: `StoreError`.
  func requiredPieces(
    of record: DownloadRecord,
    unknownTo known: PieceDigests?
  ) throws -> PieceDigests? {
    guard record.received == 0, record.hasPieceDigests,
      let stored = try find(PieceDigests.self, key: record.id), stored.isRequired, stored != known
    else { return nil }
    return stored
  }
}

extension DownloadRecord {
  /// The required digest, if it is another one than that with which a file was compared.
  func digestRequired(since compared: String?) -> String? {
    expectedDigest == compared ? nil : expectedDigest
  }

  /// Counts the bytes of a complete file that does not get its name yet.
  mutating func count(_ file: FinishedFile, at moment: Date) {
    checkpoint(
      ByteRanges(upTo: file.identity.size),
      total: file.identity.size,
      entityTag: file.entity.entityTag,
      lastModified: file.entity.lastModified,
      validatorOrigin: file.entity.origin,
      file: file.identity,
      at: moment
    )
  }
}
