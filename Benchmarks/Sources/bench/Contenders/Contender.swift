/// A way to store the records: a store on disk, which is closed with the contender.
///
/// Each operation runs the stopwatch only around its own work; its inputs are prepared before.
/// Writes use one durable transaction, reads one read transaction. All operations throw if a
/// record does not exist.
protocol Contender: AnyObject, Sendable {
  /// Adds new records, chunk by chunk.
  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws
  /// Replaces the records with the same URLs.
  func upsert(_ downloads: [Download], _ stopwatch: inout Stopwatch) throws
  /// Updates the progress of records.
  func update(_ changes: [Progress], _ stopwatch: inout Stopwatch) throws

  /// Returns the sum of the received bytes of the records.
  func sumReceived(of urls: [String], _ stopwatch: inout Stopwatch) throws -> Int64
  /// Decodes each of the records.
  func read(_ urls: [String], _ stopwatch: inout Stopwatch) throws -> Digest
  /// Decodes each failed record, found by an index.
  func readFailed(_ stopwatch: inout Stopwatch) throws -> Digest
  /// Counts the records that received more than the bound, without an index.
  func countReceived(above bound: Int64, _ stopwatch: inout Stopwatch) throws -> Int

  /// Returns a record, to check its contents.
  func download(_ url: String) throws -> Download?
  /// The size of the store on disk, in bytes.
  func size() throws -> Int
}

extension Contender {
  /// Adds new records.
  func add(_ downloads: [Download], _ stopwatch: inout Stopwatch) throws {
    var chunk: [Download]? = downloads
    try load(&stopwatch) {
      defer { chunk = nil }
      return chunk
    }
  }
}

/// A contender that looks up many records at once.
protocol BatchReader: Contender {
  /// Decodes each of the records, which are looked up together.
  func readTogether(_ urls: [String], _ stopwatch: inout Stopwatch) throws -> Digest
}

/// A contender that supports writes by concurrent tasks.
protocol TaskWriter: Contender {
  /// Updates the progress of one record in a durable commit.
  func update(_ change: Progress) async throws
}

/// A contender that can observe all records.
protocol Observing: Contender {
  /// Makes the changes one after another, and returns the processor time of the process for each,
  /// from the start of the write until the observed result contains the change.
  func costOfObserving(_ changes: [Progress]) async throws -> [Duration]
}

/// The result of a contender is wrong.
struct Mismatch: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
