import LMDB

/// Hash of the URL to the record.
///
/// Two URLs of one hash are refused; a real store would keep a list.
struct HashLayout: Layout {
  private let records: Database

  init(in transaction: inout WriteTransaction) throws {
    records = try transaction.makeDatabase("records", keys: .integers)
  }

  private func withValue<R>(
    _ hash: UInt64,
    _ url: String,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (Span<UInt8>) throws -> R
  ) throws -> R {
    try withKey(hash) { key in
      try transaction.withValue(for: key, in: records) { value in
        guard let value, url.withBytes({ PackedDownload.isRecord(value, of: $0) }) else {
          throw Mismatch("no record of \(url)")
        }
        return try body(value)
      }
    }
  }

  func add(
    _ record: PackedDownload,
    url: String,
    id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    try withKey(url.keyHash) { key in
      guard try transaction.withValue(for: key, in: records, { $0 == nil }) else {
        throw Mismatch("there is a record of \(url), or of its hash")
      }
      try transaction.put(record.bytes.span, for: key, in: records)
    }
  }

  func replace(
    _ record: PackedDownload,
    url: String,
    in transaction: inout WriteTransaction
  ) throws {
    let hash = url.keyHash
    try withValue(hash, url, in: transaction) { _ in }
    try withKey(hash) { try transaction.put(record.bytes.span, for: $0, in: records) }
  }

  func update(
    _ url: String,
    with progress: Download.Progress,
    scratch: inout [UInt8],
    in transaction: inout WriteTransaction
  ) throws {
    let hash = url.keyHash
    try withValue(hash, url, in: transaction) { scratch.replace(with: $0) }
    PackedDownload.apply(progress, to: &scratch)
    try withKey(hash) { try transaction.put(scratch.span, for: $0, in: records) }
  }

  func received(of url: String, in transaction: borrowing ReadTransaction) throws -> Int64 {
    try withValue(url.keyHash, url, in: transaction) { PackedDownload.received($0) }
  }

  func copy(
    _ url: String,
    into bytes: inout [UInt8],
    in transaction: borrowing ReadTransaction
  ) throws {
    try withValue(url.keyHash, url, in: transaction) { bytes.replace(with: $0) }
  }

  func total(in transaction: borrowing ReadTransaction) throws -> Total {
    var total = Total()
    try transaction.forEachValue(in: records) { total.add(PackedDownload.received($0)) }
    return total
  }
}
