import ObjectStore

/// `ObjectStore` as its users use it.
final class StoreContender<Hot: HotFields>: Contender {
  let name: String
  private let store: ObjectStore

  init(_ name: String, at path: String, hot: Hot.Type) throws {
    self.name = name
    store = try ObjectStore(at: path, models: [StoredDownload<Hot>.self])
  }

  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws {
    var making: Duration = .zero
    let start = ContinuousClock.now
    try store.write { transaction in
      while true {
        let before = ContinuousClock.now
        let chunk = nextChunk()
        making += ContinuousClock.now - before
        guard let chunk else { return }
        for download in chunk { try transaction.insert(StoredDownload<Hot>(download)) }
      }
    }
    stopwatch.add(ContinuousClock.now - start - making)
  }

  func replace(_ downloads: [Download]) throws {
    try store.write { transaction in
      for download in downloads {
        guard try !transaction.upsert(StoredDownload<Hot>(download)) else {
          throw Mismatch("no record of \(download.url)")
        }
      }
    }
  }

  func update(_ changes: [(url: String, progress: Download.Progress)]) throws {
    try store.write { transaction in
      for (url, progress) in changes {
        let isThere = try transaction.update(StoredDownload<Hot>.self, url) {
          $0.value.progress = progress
        }
        guard isThere else { throw Mismatch("no record of \(url)") }
      }
    }
  }

  func received(of urls: [String]) throws -> Int64 {
    try store.read { snapshot in
      var sum: Int64 = 0
      for url in urls {
        guard let object = try snapshot.get(ReceivedOnly<Hot>.self, url) else {
          throw Mismatch("no record of \(url)")
        }
        sum &+= object.received
      }
      return sum
    }
  }

  func copy(_ urls: [String]) throws -> Int? { nil }

  func forEach(_ urls: [String], _ body: (Download) throws -> Void) throws {
    try store.read { snapshot in
      for url in urls {
        guard let object = try snapshot.get(StoredDownload<Hot>.self, url) else {
          throw Mismatch("no record of \(url)")
        }
        try body(object.value)
      }
    }
  }

  func total() throws -> Total {
    try store.read { snapshot in
      var total = Total()
      try snapshot.forEach(ReceivedOnly<Hot>.all) { object in
        total.add(object.received)
        return true
      }
      return total
    }
  }
}
