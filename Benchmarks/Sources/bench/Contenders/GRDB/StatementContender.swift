import Foundation
import GRDB

/// GRDB at its fastest: cached statements, and rows decoded by the index of the column.
final class StatementContender: Contender {
  private let pool: DatabasePool

  init(at path: String) throws {
    pool = try openDownloadDatabase(in: path)
    try pool.makeDownloads(dates: .double)
  }

  // MARK: Writing

  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws {
    try pool.load(&stopwatch, nextChunk) { database, download in
      let statement = try database.cachedStatement(sql: DownloadSQL.insert)
      try statement.execute(arguments: download.arguments)
    }
  }

  func upsert(_ downloads: [Download], _ stopwatch: inout Stopwatch) throws {
    try stopwatch.run {
      try pool.write { database in
        let statement = try database.cachedStatement(sql: DownloadSQL.upsert)
        for download in downloads { try statement.execute(arguments: download.arguments) }
      }
    }
  }

  func update(_ changes: [Progress], _ stopwatch: inout Stopwatch) throws {
    try stopwatch.run {
      try pool.write { database in
        for change in changes { try Self.update(change, in: database) }
      }
    }
  }

  private static func update(_ change: Progress, in database: Database) throws {
    let statement = try database.cachedStatement(sql: DownloadSQL.update)
    try statement.execute(arguments: [
      change.received, change.updatedAt.timeIntervalSinceReferenceDate, change.url,
    ])
    guard database.changesCount == 1 else { throw Mismatch("no \(change.url)") }
  }

  // MARK: Reading

  func sumReceived(of urls: [String], _ stopwatch: inout Stopwatch) throws -> Int64 {
    try stopwatch.run {
      try pool.read { database in
        let statement = try database.cachedStatement(sql: DownloadSQL.received)
        var sum: Int64 = 0
        for url in urls {
          guard let received = try Int64.fetchOne(statement, arguments: [url]) else {
            throw Mismatch("no \(url)")
          }
          sum &+= received
        }
        return sum
      }
    }
  }

  func read(_ urls: [String], _ stopwatch: inout Stopwatch) throws -> Digest {
    try stopwatch.run {
      try pool.read { database in
        let statement = try database.cachedStatement(sql: DownloadSQL.one)
        var digest = Digest()
        for url in urls {
          let rows = try Row.fetchCursor(statement, arguments: [url])
          guard let row = try rows.next() else { throw Mismatch("no \(url)") }
          digest.add(Download(columnsOf: row))
        }
        return digest
      }
    }
  }

  func readFailed(_ stopwatch: inout Stopwatch) throws -> Digest {
    try stopwatch.run {
      try pool.read { database in
        let statement = try database.cachedStatement(sql: DownloadSQL.ofState)
        var digest = Digest()
        let rows = try Row.fetchCursor(statement, arguments: [Download.failed])
        while let row = try rows.next() { digest.add(Download(columnsOf: row)) }
        return digest
      }
    }
  }

  func countReceived(above bound: Int64, _ stopwatch: inout Stopwatch) throws -> Int {
    try stopwatch.run {
      try pool.read { database in
        let statement = try database.cachedStatement(sql: DownloadSQL.countAbove)
        return try Int.fetchOne(statement, arguments: [bound]) ?? 0
      }
    }
  }

  func download(_ url: String) throws -> Download? {
    try pool.read { database in
      let statement = try database.cachedStatement(sql: DownloadSQL.one)
      return try Row.fetchOne(statement, arguments: [url]).map { Download(columnsOf: $0) }
    }
  }

  func size() throws -> Int { try pool.downloadsSize() }
}

extension StatementContender: TaskWriter {
  func update(_ change: Progress) async throws {
    try await pool.write { try Self.update(change, in: $0) }
  }
}

extension StatementContender: Observing {
  func costOfObserving(_ changes: [Progress]) async throws -> [Duration] {
    try await pool.costOfObserving(
      changes,
      update: { try Self.update($1, in: $0) },
      fetchAll: { database in
        let rows = try Row.fetchCursor(database.cachedStatement(sql: DownloadSQL.all))
        var downloads: [Download] = []
        while let row = try rows.next() { downloads.append(Download(columnsOf: row)) }
        return downloads
      }
    )
  }
}
