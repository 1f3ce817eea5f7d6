import ObjectStore

/// `Store` with its public API and the default storage.
final class StoreContender: ObjectStoreContender {
  typealias Root = Download
  let store: Store

  init(at path: String) throws {
    store = try Store(at: path, models: [Root.self])
  }
}

/// `Store` with a column of the number that the unindexed filter reads.
final class ColumnContender: ObjectStoreContender {
  typealias Root = ColumnarDownload
  let store: Store

  init(at path: String) throws {
    store = try Store(at: path, models: [Root.self])
  }
}

/// `Store` with a model that is stored by key.
final class KeyContender: ObjectStoreContender {
  typealias Root = KeyedDownload
  let store: Store

  init(at path: String) throws {
    store = try Store(at: path, models: [Root.self])
  }
}

/// A contender that uses `Store` with one of the models.
///
/// The classes are not generic: the compiler would not specialize their methods.
protocol ObjectStoreContender: Contender {
  associatedtype Root: DownloadModel
  var store: Store { get }
}

extension ObjectStoreContender {
  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws {
    stopwatch.start()
    try store.write { transaction in
      var chunk: [Root]?
      while true {
        stopwatch.stop()
        // Assigning frees the previous chunk, which is not work of the store.
        withExtendedLifetime(chunk) {}
        chunk = nextChunk()?.map { Root($0) }
        stopwatch.start()
        guard let chunk else { return }
        try transaction.insert(contentsOf: chunk)
      }
    }
    stopwatch.stop()
  }

  func upsert(_ downloads: [Download], _ stopwatch: inout Stopwatch) throws {
    let objects = downloads.map { Root($0) }
    try stopwatch.run {
      try store.write { transaction in
        let added = try transaction.upsert(contentsOf: objects)
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
    let isThere = try transaction.edit(Root.self, key: change.url) { Root.set(change, in: &$0) }
    guard isThere else { throw Mismatch("no \(change.url)") }
  }

  func sumReceived(of urls: [String], _ stopwatch: inout Stopwatch) throws -> Int64 {
    try stopwatch.run {
      try store.read { snapshot in
        var sum: Int64 = 0
        for url in urls {
          let received = try snapshot.withView(Root.self, key: url) { try Root.received(of: &$0) }
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
          guard let found = try snapshot.find(Root.self, key: url) else {
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
        try snapshot.forEach(Root.where { $0.state == Download.failed }) { found in
          digest.add(found.download)
          return true
        }
        return digest
      }
    }
  }

  func countReceived(above bound: Int64, _ stopwatch: inout Stopwatch) throws -> Int {
    try stopwatch.run {
      try store.read { try $0.count(Root.where { $0.received > bound }) }
    }
  }

  func download(_ url: String) throws -> Download? {
    try store.read { try $0.find(Root.self, key: url)?.download }
  }

  func size() throws -> Int { bench.size(of: ["\(store.path)/data.mdb"]) }
}
