import LMDB

/// URL to the record, which then need not repeat it; of a URL that is longer than a key may be, its
/// beginning and its hash.
struct URLLayout: Layout {
  private static let longestKey = 511
  private let records: Database

  init(in transaction: inout WriteTransaction) throws {
    records = try transaction.makeDatabase("records")
  }

  private func withKey<R>(_ url: String, _ body: (Span<UInt8>, Bool) throws -> R) throws -> R {
    guard url.utf8.count > Self.longestKey else { return try url.withBytes { try body($0, false) } }
    var key = Array(url.utf8.prefix(Self.longestKey - 8))
    layouts.withKey(url.keyHash) { key.append($0) }
    return try body(key.span, true)
  }

  private func put(
    _ record: PackedDownload,
    _ url: String,
    in transaction: inout WriteTransaction
  ) throws {
    try withKey(url) { key, isCut in
      guard !isCut else { return try transaction.put(record.bytes.span, for: key, in: records) }
      var value: [UInt8] = []
      value.reserveCapacity(record.bytes.count)
      value.append(contentsOf: record.bytes[..<PackedDownload.urlStart])
      value.append(contentsOf: record.bytes[record.urlEnd...])
      try transaction.put(value.span, for: key, in: records)
    }
  }

  /// Calls `body` with the stored bytes, and whether they hold the URL.
  private func withValue<R>(
    _ url: String,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (Span<UInt8>, Bool) throws -> R
  ) throws -> R {
    try withKey(url) { key, isCut in
      try transaction.withValue(for: key, in: records) { value in
        guard let value else { throw Mismatch("no record of \(url)") }
        if isCut, !url.withBytes({ PackedDownload.isRecord(value, of: $0) }) {
          throw Mismatch("another record than that of \(url)")
        }
        return try body(value, isCut)
      }
    }
  }

  func add(
    _ record: PackedDownload,
    url: String,
    id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    let isThere = try withKey(url) { key, _ in
      try transaction.withValue(for: key, in: records) { $0 != nil }
    }
    guard !isThere else { throw Mismatch("there is a record of \(url)") }
    try put(record, url, in: &transaction)
  }

  func replace(
    _ record: PackedDownload,
    url: String,
    in transaction: inout WriteTransaction
  ) throws {
    try withValue(url, in: transaction) { _, _ in }
    try put(record, url, in: &transaction)
  }

  func update(
    _ url: String,
    with progress: Download.Progress,
    scratch: inout [UInt8],
    in transaction: inout WriteTransaction
  ) throws {
    try withValue(url, in: transaction) { value, _ in scratch.replace(with: value) }
    PackedDownload.apply(progress, to: &scratch)
    try withKey(url) { key, _ in try transaction.put(scratch.span, for: key, in: records) }
  }

  func received(of url: String, in transaction: borrowing ReadTransaction) throws -> Int64 {
    try withValue(url, in: transaction) { value, _ in PackedDownload.received(value) }
  }

  func copy(
    _ url: String,
    into bytes: inout [UInt8],
    in transaction: borrowing ReadTransaction
  ) throws {
    try withValue(url, in: transaction) { value, holdsURL in
      guard !holdsURL else { return bytes.replace(with: value) }
      bytes.replace(with: value.extracting(first: PackedDownload.urlStart))
      url.withBytes { bytes.append($0) }
      bytes.append(value.extracting(droppingFirst: PackedDownload.urlStart))
    }
  }

  func total(in transaction: borrowing ReadTransaction) throws -> Total {
    var total = Total()
    try transaction.forEachValue(in: records) { total.add(PackedDownload.received($0)) }
    return total
  }
}
