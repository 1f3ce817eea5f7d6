import Foundation
import GRDB

extension Download: FetchableRecord, PersistableRecord {
  static let databaseTableName = "download"
}

/// GRDB as its documentation introduces it: Codable records, and requests built from columns.
final class CodableContender: Contender {
  private let pool: DatabasePool

  init(at path: String) throws {
    pool = try openDownloadDatabase(in: path)
    try pool.makeDownloads(dates: .datetime)
  }

  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws {
    try pool.load(&stopwatch, nextChunk) { database, download in try download.insert(database) }
  }

  func upsert(_ downloads: [Download], _ stopwatch: inout Stopwatch) throws {
    try stopwatch.run {
      try pool.write { database in
        for download in downloads { try download.upsert(database) }
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
    guard var download = try Download.fetchOne(database, key: change.url) else {
      throw Mismatch("no \(change.url)")
    }
    try download.updateChanges(database) { download in
      download.received = change.received
      download.updatedAt = change.updatedAt
    }
  }

  func sumReceived(of urls: [String], _ stopwatch: inout Stopwatch) throws -> Int64 {
    try stopwatch.run {
      try pool.read { database in
        var sum: Int64 = 0
        for url in urls {
          let request = Download.filter(key: url).select(Column("received"), as: Int64.self)
          guard let received = try request.fetchOne(database) else { throw Mismatch("no \(url)") }
          sum &+= received
        }
        return sum
      }
    }
  }

  func read(_ urls: [String], _ stopwatch: inout Stopwatch) throws -> Digest {
    try stopwatch.run {
      try pool.read { database in
        var digest = Digest()
        for url in urls {
          guard let download = try Download.fetchOne(database, key: url) else {
            throw Mismatch("no \(url)")
          }
          digest.add(download)
        }
        return digest
      }
    }
  }

  func readFailed(_ stopwatch: inout Stopwatch) throws -> Digest {
    try stopwatch.run {
      try pool.read { database in
        var digest = Digest()
        let downloads = try Download.filter(Column("state") == Download.failed)
          .fetchCursor(database)
        while let download = try downloads.next() { digest.add(download) }
        return digest
      }
    }
  }

  func countReceived(above bound: Int64, _ stopwatch: inout Stopwatch) throws -> Int {
    try stopwatch.run {
      try pool.read { try Download.filter(Column("received") > bound).fetchCount($0) }
    }
  }

  func download(_ url: String) throws -> Download? {
    try pool.read { try Download.fetchOne($0, key: url) }
  }

  func size() throws -> Int { try pool.downloadsSize() }
}

extension CodableContender: TaskWriter {
  func update(_ change: Progress) async throws {
    try await pool.write { try Self.update(change, in: $0) }
  }
}

extension CodableContender: Observing {
  func costOfObserving(_ changes: [Progress]) async throws -> [Duration] {
    try await pool.costOfObserving(
      changes,
      update: { try Self.update($1, in: $0) },
      fetchAll: { try Download.fetchAll($0) }
    )
  }
}
