import ObjectStore

/// `Store` with its public API.
final class StoreContender: Contender {
  let store: Store

  init(at path: String) throws {
    store = try Store(at: path, models: [Download.self])
  }

  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws {
    stopwatch.start()
    try store.write { transaction in
      var chunk: [Download]?
      while true {
        stopwatch.stop()
        // Assigning frees the previous chunk, which is not work of the store.
        withExtendedLifetime(chunk) {}
        chunk = nextChunk()
        stopwatch.start()
        guard let chunk else { return }
        try transaction.insert(contentsOf: chunk)
      }
    }
    stopwatch.stop()
  }

  func upsert(_ downloads: [Download], _ stopwatch: inout Stopwatch) throws {
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
        for change in changes { try Self.update(change, in: &transaction) }
      }
    }
  }

  static func update(_ change: Progress, in transaction: inout StoreTransaction) throws {
    let isThere = try transaction.edit(Download.self, key: change.url) { download in
      download.set(\.received, to: change.received)
      download.set(\.updatedAt, to: change.updatedAt)
    }
    guard isThere else { throw Mismatch("no \(change.url)") }
  }

  func sumReceived(of urls: [String], _ stopwatch: inout Stopwatch) throws -> Int64 {
    try stopwatch.run {
      try store.read { snapshot in
        var sum: Int64 = 0
        for url in urls {
          let received = try snapshot.withView(Download.self, key: url) { try $0.received }
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
          guard let download = try snapshot.find(Download.self, key: url) else {
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
      try store.read { snapshot in
        var digest = Digest()
        try snapshot.forEach(Download.where { $0.state == Download.failed }) { download in
          digest.add(download)
          return true
        }
        return digest
      }
    }
  }

  func countReceived(above bound: Int64, _ stopwatch: inout Stopwatch) throws -> Int {
    try stopwatch.run {
      try store.read { try $0.count(Download.where { $0.received > bound }) }
    }
  }

  func download(_ url: String) throws -> Download? {
    try store.read { try $0.find(Download.self, key: url) }
  }

  func size() throws -> Int { bench.size(of: ["\(store.path)/data.mdb"]) }
}
