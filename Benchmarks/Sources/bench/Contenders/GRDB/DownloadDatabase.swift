import Foundation
import GRDB

/// Opens the database that both contenders have: a write-ahead log, each commit synced.
func openDownloadDatabase(in folder: String) throws -> DatabasePool {
  let pool = try DatabasePool(path: "\(folder)/db.sqlite")
  // A new pool sets NORMAL by itself, under which commits can be lost with the power.
  let synchronous = try pool.writeWithoutTransaction { database in
    try database.execute(sql: "PRAGMA synchronous = FULL")
    return try Int.fetchOne(database, sql: "PRAGMA synchronous")
  }
  guard synchronous == 2 else { throw Mismatch("SQLite does not sync each commit") }
  return pool
}

extension DatabasePool {
  /// Makes the table; the types are those that the contender writes.
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

  /// The size of the database after all of the log is in it.
  func downloadsSize() throws -> Int {
    try writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    return bench.size(of: [path, "\(path)-wal"])
  }

  /// Adds new records in one transaction, each as `insert` says.
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
        // The one before is freed here at the earliest: that is no work of the database.
        withExtendedLifetime(chunk) {}
        chunk = nextChunk()
        stopwatch.start()
        guard let chunk else { return }
        for download in chunk { try insert(database, download) }
      }
    }
    stopwatch.stop()
  }

  /// Observes all records while the changes are made one after another.
  ///
  /// - Returns: The processor time of the process for each, until the change is seen.
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
      // Without snapshots the pool reports the first result twice.
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
