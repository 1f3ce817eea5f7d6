/// A reader slot in the lock file, which all processes share.
///
/// ```swift
/// try environment.clearStaleReaders()
/// let readers = environment.readers()
/// let last = try environment.lastTransactionID()
/// for reader in readers {
///   guard let snapshot = reader.transactionID else { continue }
///   print("process \(reader.processID) reads a snapshot \(last - snapshot) commits old")
/// }
/// ```
public struct EnvironmentReader: Sendable, Hashable {
  /// The ID of the process that owns the slot; a dead process stays listed until
  /// ``Environment/clearStaleReaders()``.
  public var processID: Int32
  /// The system's number of the thread that took the slot; other threads may have used it since.
  public var thread: UInt
  /// The number of the snapshot being read, whose pages cannot be reused; `nil` for an idle slot.
  public var transactionID: UInt64?

  /// Parses one line of LMDB's list of readers: process in decimal, thread in hexadecimal, and a
  /// transaction number or a dash.
  ///
  /// Returns `nil` for any other line.
  init?(line: String) {
    let words = line.split { $0 == " " || $0 == "\n" }
    guard words.count == 3, let processID = Int32(words[0]), let thread = UInt(words[1], radix: 16)
    else { return nil }
    self.processID = processID
    self.thread = thread
    transactionID = UInt64(words[2])
  }
}
