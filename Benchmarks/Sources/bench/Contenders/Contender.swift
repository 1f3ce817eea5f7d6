/// One way to keep the records, in one store on disk, closed when the contender goes.
///
/// Each operation runs the stopwatch around its work alone: what a program would have at hand is
/// made before. Those that write do it in one durable transaction; those that read, in one read
/// transaction. All expect every record that they name to be there, and throw when it is not.
protocol Contender: AnyObject, Sendable {
  /// Adds new records: chunk after chunk, until there is none.
  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws
  /// Writes records over those of the same URL.
  func upsert(_ downloads: [Download], _ stopwatch: inout Stopwatch) throws
  /// Writes progress into records.
  func update(_ changes: [Progress], _ stopwatch: inout Stopwatch) throws

  /// The sum of the received bytes of those records.
  func sumReceived(of urls: [String], _ stopwatch: inout Stopwatch) throws -> Int64
  /// Makes a value of each of those records.
  func read(_ urls: [String], _ stopwatch: inout Stopwatch) throws -> Digest
  /// Makes a value of each of the failed records, which an index finds.
  func readFailed(_ stopwatch: inout Stopwatch) throws -> Digest
  /// How many records have received more than that, which no index knows.
  func countReceived(above bound: Int64, _ stopwatch: inout Stopwatch) throws -> Int

  /// The record as a value, to see whether it is what it should be.
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

/// A contender that concurrent tasks can write with.
protocol TaskWriter: Contender {
  /// Writes progress into one record, in a durable commit.
  func update(_ change: Progress) async throws
}

/// A contender that can tell who looks at all records that one has changed.
protocol Observing: Contender {
  /// Makes the changes one after another, and returns the processor time of the process for each:
  /// from the beginning of the write until the change is seen in the observed result.
  func costOfObserving(_ changes: [Progress]) async throws -> [Duration]
}

/// A contender has not done what it should have.
struct Mismatch: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
