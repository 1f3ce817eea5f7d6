import Foundation
import GRDB

/// Opens the database of both contenders, with a write-ahead log and a sync per commit.
func openDownloadDatabase(in folder: String) throws -> DatabasePool {
  let pool = try DatabasePool(path: "\(folder)/db.sqlite")
  // The default of a new pool is NORMAL, with which a power cut can lose commits.
  let synchronous = try pool.writeWithoutTransaction { database in
    try database.execute(sql: "PRAGMA synchronous = FULL")
    return try Int.fetchOne(database, sql: "PRAGMA synchronous")
  }
  guard synchronous == 2 else { throw Mismatch("SQLite does not sync each commit") }
  return pool
}

extension DatabasePool {
  /// Creates the table with the column types that the contender writes.
  func makeDownloads(dates: Database.ColumnType) throws {
    try write { database in
      guard try !database.tableExists("download") else { return }
      try database.create(table: "download") { table in
        table.primaryKey("url", .text)
        table.column("name", .text).notNull()
        table.column("destination", .text).notNull()
        table.column("type", .text).notNull()
        table.column("entityTag", .text)
        table.column("tags", .text).notNull()
        table.column("resumeBlob", .blob)
        table.column("state", .integer).notNull().indexed()
        table.column("failedAttempts", .integer).notNull()
        table.column("createdAt", dates).notNull()
        table.column("completedAt", dates)
        table.column("received", .integer).notNull()
        table.column("expected", .integer).notNull()
        table.column("updatedAt", dates).notNull()
        table.column("priority", .integer).notNull()
      }
    }
  }

  /// The size of the database after a complete checkpoint of the log.
  func downloadsSize() throws -> Int {
    try writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    return bench.size(of: [path, "\(path)-wal"])
  }

  /// Adds new records in one transaction, each by `insert`.
  func load(
    _ stopwatch: inout Stopwatch,
    _ nextChunk: () -> [Download]?,
    insert: (Database, Download) throws -> Void
  ) throws {
    stopwatch.start()
    try write { database in
      var chunk: [Download]?
      while true {
        stopwatch.stop()
        // Assigning frees the previous chunk, which is not work of the database.
        withExtendedLifetime(chunk) {}
        chunk = nextChunk()
        stopwatch.start()
        guard let chunk else { return }
        for download in chunk { try insert(database, download) }
      }
    }
    stopwatch.stop()
  }

  /// Observes all records, and makes the changes one after another.
  ///
  /// - Returns: The processor time of the process for each change, until it is observed.
  func costOfObserving(
    _ changes: [Progress],
    update: (Database, Progress) throws -> Void,
    fetchAll: @escaping @Sendable (Database) throws -> [Download]
  ) async throws -> [Duration] {
    let observation = ValueObservation.tracking(fetchAll)
    var results = observation.values(in: self).makeAsyncIterator()
    _ = try await results.next()
    var costs: [Duration] = []
    for change in changes {
      let start = Duration.now(on: CLOCK_PROCESS_CPUTIME_ID)
      try writeNow { try update($0, change) }
      // Without SQLite snapshots the pool reports the first result twice.
      var isSeen = false
      while !isSeen, let result = try await results.next() {
        isSeen = result.contains { change.isSeen(in: $0) }
      }
      costs.append(Duration.now(on: CLOCK_PROCESS_CPUTIME_ID) - start)
      guard isSeen else { throw Mismatch("the change of \(change.url) was not seen") }
    }
    return costs
  }

  private func writeNow(_ body: (Database) throws -> Void) throws {
    try write(body)
  }
}
