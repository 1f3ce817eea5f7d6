import DownloadStore
import DownloadSync
import Foundation
import ObjectStore

/// The operations, each of which does its work once per round on the large store.
///
/// Values that an operation needs are created before the first round for all rounds of any run, so
/// that they do not count.
struct Workload {
  private static let mostRounds = 2

  private let folder: String
  private let rounds: Range<Int>
  private let store: RecordStore

  init(folder: String, rounds: Int) throws {
    guard 0...Self.mostRounds ~= rounds else { throw WrongResult() }
    self.folder = folder
    self.rounds = 0..<rounds
    store = try SampleStores.large(in: folder)
  }

  /// The URLs of finished downloads from all parts of the store.
  private var urls: [String] { (0..<SampleStores.batch).map { SampleStores.url($0 * 7) } }

  // MARK: Reads

  func lookUpRecords() throws {
    let urls = urls
    for _ in rounds {
      let bytes = try store.objects.read { snapshot in
        try urls.reduce(0) { sum, url in
          let record = try snapshot.find(DownloadRecord.self, key: url)
          return try sum + found(record).filename.utf8.count
        }
      }
      try expect(bytes > 0)
    }
  }

  func lookUpFields() throws {
    let urls = urls
    for _ in rounds {
      let sum = try store.objects.read { snapshot in
        try urls.reduce(Int64(0)) { sum, url in
          let received = try snapshot.withView(DownloadRecord.self, key: url) { try $0.received }
          return try sum + found(received)
        }
      }
      try expect(sum == Int64(urls.count) << 20)
    }
  }

  func query() throws {
    for _ in rounds {
      let images = try store.objects.read { snapshot in
        try snapshot.fetch(DownloadRecord.where { $0.type == "image" })
      }
      try expect(images.count == SampleStores.batch)
    }
  }

  func filter() throws {
    for _ in rounds {
      let count = try store.objects.read { snapshot in
        try snapshot.count(DownloadRecord.where { $0.received > 1_000 })
      }
      try expect(count == SampleStores.count - SampleStores.activeCount)
    }
  }

  func open() throws {
    for _ in rounds {
      for _ in 0..<10 { _ = try RecordStore(at: "\(folder)/small", access: .readOnly) }
    }
  }

  func checkPages() throws {
    for _ in rounds { try store.objects.checkPages() }
  }

  // MARK: Writes

  func add() throws {
    for round in rounds {
      let first = SampleStores.count + round * SampleStores.batch
      let added = try store.addNow((first..<first + SampleStores.batch).map(SampleStores.request))
      try expect(added.allSatisfy(\.isNew))
    }
  }

  func insert() throws {
    let known = try knownRecords()
    let inserts = (0..<Self.mostRounds).map { round in
      known.enumerated().map { number, record in
        var record = record
        let suffix = "\(round)-\(number)"
        record.url += suffix
        record.id += suffix
        record.destination += suffix
        return record
      }
    }
    for round in rounds {
      try store.objects.write { try $0.insert(contentsOf: inserts[round]) }
    }
  }

  func upsert() throws {
    let known = try knownRecords()
    let upserts = (0..<Self.mostRounds).map { round in
      known.map { record in
        var record = record
        record.type = "type\(round)"
        record.priority = Int32(round + 1)
        return record
      }
    }
    for round in rounds {
      let added = try store.objects.write { try $0.upsert(contentsOf: upserts[round]) }
      try expect(added == 0)
    }
  }

  func checkpoint() throws {
    let newest = newestURLs
    for round in rounds {
      try store.objects.write { tx in
        for url in newest { try edit(url, round, in: &tx) }
      }
    }
  }

  func commit() throws {
    let newest = newestURLs
    for round in rounds {
      for number in 0..<100 { try commitProgress(of: newest[number], round) }
    }
  }

  private var newestURLs: [String] {
    (SampleStores.count - SampleStores.activeCount..<SampleStores.count).map(SampleStores.url)
  }

  private func knownRecords() throws -> [DownloadRecord] {
    try store.objects.read { snapshot in
      try urls.map { try found(snapshot.find(DownloadRecord.self, key: $0)) }
    }
  }

  private func commitProgress(of url: String, _ round: Int) throws {
    try store.objects.write { try edit(url, round, in: &$0) }
  }

  /// Stores progress, as a checkpoint does.
  private func edit(_ url: String, _ round: Int, in tx: inout StoreTransaction) throws {
    let isFound = try tx.edit(DownloadRecord.self, key: url) { record in
      record.set(\.received, to: Int64(round + 1) << 16)
      record.set(\.resolvedBytes, to: Int64(round + 1) << 16)
      record.set(\.updatedAt, to: SampleStores.firstDate.addingTimeInterval(Double(round + 1)))
    }
    try expect(isFound)
  }

  // MARK: Changes

  func observe() async throws {
    let changes = store.objects.observe(DownloadRecord.where { $0.state == .completed })
    var results = changes.makeAsyncIterator()
    let urls = urls
    _ = try await results.next()
    for round in rounds {
      for number in 0..<100 {
        try commitProgress(of: urls[number], round)
        let result = try found(try await results.next())
        try expect(result.modifications.count == 1)
      }
    }
  }

  func reconcile() async throws {
    for _ in rounds {
      let engine = try DownloadEngine(store: store, transport: IdleTransport())
      let count = try await engine.reconcile()
      try expect(count == SampleStores.activeCount)
    }
  }

  // MARK: Checks

  private func expect(_ condition: Bool) throws {
    guard condition else { throw WrongResult() }
  }

  private func found<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw WrongResult() }
    return value
  }
}

/// An operation did not do its work, so its count means nothing.
struct WrongResult: Error {}

/// A transport that is never used: a reconciliation starts no task.
private struct IdleTransport: Transport {
  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID { TaskID(rawValue: 0) }

  func cancel(_ task: TaskID) {}

  func liveTasks() async -> [TaskSnapshot] { [] }
}
