internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// Identifies one transfer by its record and generation.
///
/// The URL and the generation are not enough: a new record may get the URL of a removed one, and
/// reach the same generation.
struct TransferKey: Sendable {
  /// The URL that the record had when the transfer started.
  let url: String
  let recordID: String
  private let generation: Int64

  /// Creates the key of the record's current generation.
  init(_ record: DownloadRecord) {
    url = record.url
    recordID = record.id
    generation = record.generation
  }

  /// Whether a record has the id and the generation of the transfer.
  func matches(_ record: DownloadRecord) -> Bool {
    recordID == record.id && generation == record.generation
  }
}

extension TransferKey: Equatable {
  static func == (one: Self, other: Self) -> Bool {
    one.recordID == other.recordID && one.generation == other.generation
      && one.url.utf8.elementsEqual(other.url.utf8)
  }
}

extension ObjectReader where Self: ~Copyable {
  /// Returns the stored record of a transfer.
  ///
  /// - Parameter key: The transfer.
  /// - Returns: The record; `nil` if it was removed, replaced, restarted or moved to another URL.
  /// - Throws: `StoreError`.
  func record(of key: TransferKey) throws -> DownloadRecord? {
    guard let record = try find(DownloadRecord.self, key: key.url), key.matches(record) else {
      return nil
    }
    return record
  }
}

extension StoreTransaction {
  /// Applies an event to the stored record of a transfer, if it still has the same id and
  /// generation, and is in a position that accepts the event.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - key: The transfer.
  ///   - condition: A further condition on the stored record.
  ///   - moment: The time of the event.
  /// - Returns: The changed record; `nil` if nothing was changed.
  /// - Throws: `StoreError`.
  @discardableResult
  mutating func apply(
    _ event: DownloadRecord.Event,
    to key: TransferKey,
    if condition: (DownloadRecord) -> Bool = { _ in true },
    at moment: Date
  ) throws -> DownloadRecord? {
    guard let stored = try record(of: key), condition(stored), stored.accepts(event) else {
      return nil
    }
    var record = stored
    try record.apply(event, at: moment)
    return try store(record, after: stored)
  }

  /// Changes the stored record of a transfer, if it still has the same id and
  /// generation.
  ///
  /// - Parameters:
  ///   - key: The transfer.
  ///   - condition: A further condition on the stored record.
  ///   - change: The change.
  /// - Returns: The changed record; `nil` if nothing was changed.
  /// - Throws: `StoreError`, or the error of `change`.
  @discardableResult
  mutating func update(
    _ key: TransferKey,
    if condition: (DownloadRecord) -> Bool = { _ in true },
    _ change: (inout DownloadRecord) throws -> Void
  ) throws -> DownloadRecord? {
    guard let stored = try record(of: key), condition(stored) else { return nil }
    var record = stored
    try change(&record)
    return try store(record, after: stored)
  }
}
