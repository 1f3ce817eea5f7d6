/// One way to keep the records, under one store on disk.
protocol Contender: AnyObject {
  var name: String { get }

  /// Adds records in one durable transaction: chunk after chunk, until there is none.
  ///
  /// Making the chunks is not part of the time.
  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws
  /// Writes records over those of the same URL, in one durable transaction.
  func replace(_ downloads: [Download]) throws
  /// Writes progress over that of records, in one durable transaction.
  func update(_ changes: [(url: String, progress: Download.Progress)]) throws

  /// The sum of the received bytes of those records.
  func received(of urls: [String]) throws -> Int64
  /// Copies those records out as they are stored, and returns how many bytes that were; `nil` when
  /// there is no such access.
  func copy(_ urls: [String]) throws -> Int?
  /// Calls `body` with each of those records.
  func forEach(_ urls: [String], _ body: (Download) throws -> Void) throws
  /// The sum of the received bytes of all records.
  func total() throws -> Total
}

extension Contender {
  /// Adds records in one durable transaction.
  func add(_ downloads: [Download]) throws {
    var stopwatch = Stopwatch()
    var chunk: [Download]? = downloads
    try load(&stopwatch) {
      defer { chunk = nil }
      return chunk
    }
  }
}

/// Adds up the time of what it runs.
struct Stopwatch {
  private(set) var elapsed: Duration = .zero

  mutating func run(_ body: () throws -> Void) rethrows {
    add(try ContinuousClock().measure(body))
  }

  mutating func add(_ duration: Duration) {
    elapsed += duration
  }
}
