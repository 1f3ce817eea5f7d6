import ObjectStore

/// `Store` with a column of the number that the unindexed filter reads.
final class ColumnContender: Contender {
  private let store: Store

  init(at path: String) throws {
    store = try Store(at: path, models: [ColumnarDownload.self])
  }

  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws {
    stopwatch.start()
    try store.write { transaction in
      while true {
        stopwatch.stop()
        let chunk = nextChunk()?.map { ColumnarDownload($0) }
        stopwatch.start()
        guard let chunk else { return }
        try transaction.insert(contentsOf: chunk)
      }
    }
    stopwatch.stop()
  }

  func upsert(_ downloads: [Download], _ stopwatch: inout Stopwatch) throws {
    let downloads = downloads.map { ColumnarDownload($0) }
    try stopwatch.run {
      try store.write { transaction in
        let added = try transaction.upsert(contentsOf: downloads)
        guard added == 0 else { throw Mismatch("\(added) of the downloads were not there") }
      }
    }
  }

  func update(_ changes: [Progress], _ stopwatch: inout Stopwatch) throws {
    try stopwatch.run {
      try store.write { transaction in
        for change in changes {
          let isThere = try transaction.edit(ColumnarDownload.self, key: change.url) { download in
            download.set(\.received, to: change.received)
            download.set(\.updatedAt, to: change.updatedAt)
          }
          guard isThere else { throw Mismatch("no \(change.url)") }
        }
      }
    }
  }

  func sumReceived(of urls: [String], _ stopwatch: inout Stopwatch) throws -> Int64 {
    try stopwatch.run {
      try store.read { snapshot in
        var sum: Int64 = 0
        for url in urls {
          let received = try snapshot.withView(ColumnarDownload.self, key: url) { try $0.received }
          guard let received else { throw Mismatch("no \(url)") }
          sum &+= received
        }
        return sum
      }
    }
  }

  func read(_ urls: [String], _ stopwatch: inout Stopwatch) throws -> Digest {
    try stopwatch.run {
      try store.read { snapshot in
        var digest = Digest()
        for url in urls {
          guard let found = try snapshot.find(ColumnarDownload.self, key: url) else {
            throw Mismatch("no \(url)")
          }
          digest.add(found.download)
        }
        return digest
      }
    }
  }

  func readFailed(_ stopwatch: inout Stopwatch) throws -> Digest {
    try stopwatch.run {
      try store.read { snapshot in
        var digest = Digest()
        let failed = ColumnarDownload.where { $0.state == Download.failed }
        try snapshot.forEach(failed) { found in
          digest.add(found.download)
          return true
        }
        return digest
      }
    }
  }

  func countReceived(above bound: Int64, _ stopwatch: inout Stopwatch) throws -> Int {
    try stopwatch.run {
      try store.read { try $0.count(ColumnarDownload.where { $0.received > bound }) }
    }
  }

  func download(_ url: String) throws -> Download? {
    try store.read { try $0.find(ColumnarDownload.self, key: url)?.download }
  }

  func size() throws -> Int { bench.size(of: ["\(store.path)/data.mdb"]) }
}
