internal import DownloadStore

/// Tells a transfer from those of other records, and of other generations of its own.
///
/// A URL and a generation do not: a record may get the URL of one that is gone, and have as many
/// generations behind it.
struct TransferKey: Sendable {
  /// The URL that the record had when the transfer began.
  let url: String
  private let recordID: String
  private let generation: Int64

  /// The key of the transfer that a record has, or would have.
  init(_ record: DownloadRecord) {
    url = record.url
    recordID = record.id
    generation = record.generation
  }

  /// Whether the transfer is that of the record as it is.
  func isOf(_ record: DownloadRecord) -> Bool {
    recordID == record.id && generation == record.generation
  }
}

extension DownloadRecord {
  /// Whether it is the same record, and nobody has begun it anew.
  func isSameGeneration(as other: DownloadRecord) -> Bool {
    TransferKey(other).isOf(self)
  }
}
