import LMDB

/// Hash of the URL to a sequential id, and the id to the record: whole, or with the first `hotSize`
/// bytes in a table of their own.
///
/// Two URLs of one hash are refused; a real store would keep a list.
struct IDLayout: Layout {
  private let hotSize: Int
  private let ids: Database
  private let records: Database
  /// `nil` when records are whole.
  private let hot: Database?

  init(hotSize: Int, in transaction: inout WriteTransaction) throws {
    self.hotSize = hotSize
    ids = try transaction.makeDatabase("ids", keys: .integers)
    records = try transaction.makeDatabase("records", keys: .integers)
    hot = hotSize > 0 ? try transaction.makeDatabase("hot", keys: .integers) : nil
  }

  /// Calls `body` with the id and the cold part, which may be the whole record.
  private func withCold<R>(
    _ url: String,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (UInt64, Span<UInt8>) throws -> R
  ) throws -> R {
    let id = try withKey(url.keyHash) { key in
      try transaction.withValue(for: key, in: ids) { $0?.number }
    }
    guard let id else { throw Mismatch("no record of \(url)") }
    return try withKey(id) { key in
      try transaction.withValue(for: key, in: records) { value in
        guard let value,
          url.withBytes({ PackedDownload.isRecord(value, of: $0, hotSize: hotSize) })
        else { throw Mismatch("no record of \(url)") }
        return try body(id, value)
      }
    }
  }

  private func withHot<R>(
    _ id: UInt64,
    _ hot: Database,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (Span<UInt8>) throws -> R
  ) throws -> R {
    try withKey(id) { key in
      try transaction.withValue(for: key, in: hot) { value in
        guard let value else { throw Mismatch("no hot part of \(id)") }
        return try body(value)
      }
    }
  }

  private func put(
    _ record: PackedDownload,
    _ id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    let span = record.bytes.span
    try withKey(id) { key in
      try transaction.put(span.extracting(droppingFirst: hotSize), for: key, in: records)
      if let hot { try transaction.put(span.extracting(first: hotSize), for: key, in: hot) }
    }
  }

  func add(
    _ record: PackedDownload,
    url: String,
    id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    try withKey(url.keyHash) { hash in
      guard try transaction.withValue(for: hash, in: ids, { $0 == nil }) else {
        throw Mismatch("there is a record of \(url), or of its hash")
      }
      try withKey(id) { try transaction.put($0, for: hash, in: ids) }
    }
    try put(record, id, in: &transaction)
  }

  func replace(
    _ record: PackedDownload,
    url: String,
    in transaction: inout WriteTransaction
  ) throws {
    let id = try withCold(url, in: transaction) { id, _ in id }
    try put(record, id, in: &transaction)
  }

  func update(
    _ url: String,
    with progress: Download.Progress,
    scratch: inout [UInt8],
    in transaction: inout WriteTransaction
  ) throws {
    let id = try withCold(url, in: transaction) { id, cold in
      if hot == nil { scratch.replace(with: cold) }
      return id
    }
    if let hot { try withHot(id, hot, in: transaction) { scratch.replace(with: $0) } }
    PackedDownload.apply(progress, to: &scratch)
    try withKey(id) { try transaction.put(scratch.span, for: $0, in: hot ?? records) }
  }

  func received(of url: String, in transaction: borrowing ReadTransaction) throws -> Int64 {
    try withCold(url, in: transaction) { id, cold in
      guard let hot else { return PackedDownload.received(cold) }
      return try withHot(id, hot, in: transaction) { PackedDownload.received($0) }
    }
  }

  func copy(
    _ url: String,
    into bytes: inout [UInt8],
    in transaction: borrowing ReadTransaction
  ) throws {
    try withCold(url, in: transaction) { id, cold in
      guard let hot else { return bytes.replace(with: cold) }
      try withHot(id, hot, in: transaction) { bytes.replace(with: $0) }
      bytes.append(cold)
    }
  }

  func total(in transaction: borrowing ReadTransaction) throws -> Total {
    var total = Total()
    try transaction.forEachValue(in: hot ?? records) { total.add(PackedDownload.received($0)) }
    return total
  }
}
