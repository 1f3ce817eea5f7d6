/// A slot in the table of readers that all processes share.
public struct EnvironmentReader: Sendable, Hashable {
  /// The process that has the slot; it may be dead, until ``Environment/clearStaleReaders()``.
  public var processID: Int32
  /// The thread that took the slot, as the system numbers it; others may use it since.
  public var thread: UInt
  /// The snapshot that is being read, which keeps later freed pages from being used again; `nil` for
  /// a slot that waits for its next read.
  public var transactionID: UInt64?

  /// Reads one line of LMDB's report: process in decimal, thread in hexadecimal, and a number or a
  /// dash.
  ///
  /// `nil` for its other lines.
  init?(line: String) {
    let words = line.split { $0 == " " || $0 == "\n" }
    guard words.count == 3, let processID = Int32(words[0]), let thread = UInt(words[1], radix: 16)
    else { return nil }
    self.processID = processID
    self.thread = thread
    transactionID = UInt64(words[2])
  }
}
