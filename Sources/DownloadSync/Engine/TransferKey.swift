internal import DownloadStore
internal import ObjectStore

/// Identifies one transfer: the record and its generation.
///
/// URL and generation alone do not: a record may get the URL of a removed record, and have the same
/// number of generations.
struct TransferKey: Sendable {
  /// The URL that the record had when the transfer started.
  let url: String
  private let recordID: String
  private let generation: Int64

  /// The key of the transfer that a record has, or would have.
  init(_ record: DownloadRecord) {
    url = record.url
    recordID = record.id
    generation = record.generation
  }

  /// Whether a record is still the one of the transfer, and was not restarted since.
  func isOf(_ record: DownloadRecord) -> Bool {
    recordID == record.id && generation == record.generation
  }
}

extension ObjectReader where Self: ~Copyable {
  /// The stored record of a transfer.
  ///
  /// - Returns: The record; `nil` if it was removed, restarted, moved to another URL or replaced since.
  func record(of key: TransferKey) throws -> DownloadRecord? {
    guard let record = try get(DownloadRecord.self, key.url), key.isOf(record) else { return nil }
    return record
  }
}

extension StoreTransaction {
  /// Changes the stored record of a transfer, if it is still the one of the transfer.
  ///
  /// - Parameters:
  ///   - key: The transfer.
  ///   - condition: What must hold of the stored record besides.
  ///   - change: A transition of the record.
  /// - Returns: The changed record; `nil` if nothing was changed.
  /// - Throws: `StoreError`, or the error of `change`.
  @discardableResult
  mutating func update(
    _ key: TransferKey,
    if condition: (DownloadRecord) -> Bool = { _ in true },
    _ change: (inout DownloadRecord) throws -> Void
  ) throws -> DownloadRecord? {
    guard var record = try record(of: key), condition(record) else { return nil }
    try change(&record)
    try upsert(record)
    return record
  }
}
