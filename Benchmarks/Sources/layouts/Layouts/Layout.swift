import LMDB

/// How packed records lie in databases.
///
/// Every access by URL proves that the record is that of the URL.
protocol Layout {
  /// Adds a record that is not there yet; `id` is greater than that of any other.
  func add(
    _ record: PackedDownload,
    url: String,
    id: UInt64,
    in transaction: inout WriteTransaction
  ) throws

  /// Writes a record over the one of the same URL.
  func replace(
    _ record: PackedDownload,
    url: String,
    in transaction: inout WriteTransaction
  ) throws

  /// Writes progress over that of the record; `scratch` is memory to do it in.
  func update(
    _ url: String,
    with progress: Download.Progress,
    scratch: inout [UInt8],
    in transaction: inout WriteTransaction
  ) throws

  /// The received bytes of the record.
  func received(of url: String, in transaction: borrowing ReadTransaction) throws -> Int64

  /// Copies the packed record out.
  func copy(
    _ url: String,
    into bytes: inout [UInt8],
    in transaction: borrowing ReadTransaction
  ) throws

  /// The sum of the received bytes of all records.
  func total(in transaction: borrowing ReadTransaction) throws -> Total
}

/// What a scan found: proof that it has seen every record.
struct Total: Equatable, CustomStringConvertible {
  var count = 0
  var received: Int64 = 0

  mutating func add(_ received: Int64) {
    count += 1
    self.received &+= received
  }

  var description: String { "\(count) records, \(received) bytes" }
}

/// A contender did not do what it was asked to.
struct Mismatch: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) {
    self.description = description
  }
}
