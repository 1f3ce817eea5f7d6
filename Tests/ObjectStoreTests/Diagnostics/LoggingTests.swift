import Foundation
import LMDB
import Logging
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct LoggingTests {
  let folder: TemporaryFolder
  let log = RecordingLog()

  init() throws {
    folder = try TemporaryFolder()
  }

  private func open(
    _ models: any Model.Type...,
    version: UInt32 = 1,
    mapSize: Int? = nil
  ) throws -> Store {
    try Store(
      at: folder.path("store"),
      models: models,
      options: StoreOptions(schemaVersion: version, mapSize: mapSize, logger: log.logger)
    )
  }

  @Test func `the logger does not affect equality of options`() {
    let (plain, logging) = (StoreOptions(), StoreOptions(logger: log.logger))
    #expect(plain == logging)
    #expect(plain.hashValue == logging.hashValue)
    #expect(logging.logger != nil)
    #expect(plain != StoreOptions(schemaVersion: 2))
  }

  @Test func `opening a store logs the schema changes it made`() throws {
    do { _ = try open(Ticket.self) }
    let opened = log.entries("opened the store")
    #expect(opened.count == 1)
    #expect(opened.first?.level == .debug)
    #expect(opened.first?.metadata["path"] == folder.path("store"))
    #expect(opened.first?.metadata["models"] == "Ticket")
    #expect(opened.first?.metadata["isReadOnly"] == "false")
    #expect(opened.first?.metadata["duration"]?.isEmpty == false)
    #expect(
      log.entries("built an index").compactMap { $0.metadata["fields"] } == ["seat", "row, seat"]
    )
    #expect(log.entries("changed the stored schema").count == 1)

    // The second open has nothing to change.
    _ = try open(Ticket.self)
    #expect(log.entries("opened the store").count == 2)
    #expect(log.entries("built an index").count == 2)
    #expect(log.entries("changed the stored schema").count == 1)
  }

  @Test func `opening a store of a later version logs a notice`() throws {
    do { _ = try open(Ticket.self, version: 3) }
    let message = "opened the store read-only: a later version of the program wrote it"
    #expect(log.entries(message) == [])
    let store = try open(Ticket.self, version: 2)
    #expect(store.isReadOnly)
    let entry = log.entries(message).first
    #expect(entry?.level == .notice)
    #expect(entry?.metadata["storedVersion"] == "3")
    #expect(entry?.metadata["ownVersion"] == "2")
  }

  @Test func `map growth is logged with both sizes`() throws {
    let store = try open(Ticket.self, mapSize: 1 << 20)
    for round in 0..<40 {
      try store.write(durability: .deferred) { tx in
        for id in 0..<60 {
          let number = round * 60 + id
          try tx.insert(
            Ticket(id: number, seat: "\(number) " + String(repeating: "x", count: 400), row: 0)
          )
        }
      }
    }
    let growths = log.entries("enlarged the memory map")
    #expect(growths.first?.metadata["oldSize"] == "\(1 << 20)")
    #expect(growths.first?.metadata["newSize"] == "\(2 << 20)")
  }

  @Test func `a slow reader is warned about only while the file grows`() throws {
    // Without a logger: on a slow machine the writes take longer than the interval of the checks.
    let store = try Store(at: folder.path("store"), models: [Ticket.self])
    let start = ContinuousClock.now
    let storeLog = StoreLog(log.logger, now: start)
    storeLog.didOpen(store.environment, models: ["Ticket"], isReadOnly: false, since: start)
    let message = "a slow reader makes the file grow"
    let later = start + .seconds(31)
    try store.read { _ in
      for id in 0..<1_001 {
        storeLog.didBeginWrite(store.environment, now: start)
        try store.write(durability: .deferred) { tx in
          try tx.insert(Ticket(id: id, seat: "\(id)", row: 0))
        }
      }
      #expect(log.entries(message) == [])
      storeLog.didBeginWrite(store.environment, now: later)
      let entry = log.entries(message).first
      #expect(entry?.level == .warning)
      #expect(entry?.metadata["readers"] == "1")
      #expect(entry?.metadata["ageInCommits"] == "1001")
      #expect(entry?.metadata["processID"] == "\(ProcessInfo.processInfo.processIdentifier)")
      // The warning is not repeated within the interval, nor later if the file has not grown.
      storeLog.didBeginWrite(store.environment, now: later + .seconds(1))
      storeLog.didBeginWrite(store.environment, now: later + .seconds(40))
      #expect(log.entries(message).count == 1)
    }
  }

  @Test func `freeing the slot of a killed reader is logged once`() async throws {
    let message = "cleared the reader slots of dead processes"
    let store = try open(Ticket.self)
    for round in 1...2 {
      let path = store.path
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let store = try Store(at: path, models: [Ticket.self])
        let snapshot = try store.snapshot()
        kill(getpid(), SIGKILL)
        snapshot.close()
      }
      // Writes do this periodically.
      try store.environment.clearStaleReaders()
      for id in 1...3 {
        try await store.write { tx in
          try tx.insert(Ticket(id: round * 10 + id, seat: "\(round) \(id)", row: 0))
        }
      }
      let entries = log.entries(message)
      #expect(entries.map(\.metadata) == Array(repeating: ["readers": "1"], count: round))
      #expect(entries.allSatisfy { $0.level == .debug })
    }
  }

  @Test func `a shared commit is logged with the number of its writes`() async throws {
    let store = try open(Ticket.self)
    let blocker = WriteBlocker()
    try await withThrowingTaskGroup { group in
      try await blocker.hold(store, in: &group)
      for id in 0..<5 {
        group.addTask {
          try await store.write { tx in try tx.insert(Ticket(id: id, seat: "\(id)", row: 0)) }
        }
      }
      try await blocker.release(store, waiting: 5)
      try await group.waitForAll()
    }
    // The blocking write was committed on its own.
    let shared = log.entries("writes shared a commit")
    #expect(shared.map(\.metadata) == [["writes": "5", "durability": "full"]])
  }

  @Test func `a large scan logs one warning per set of fields if the model has an index`() throws {
    let store = try open(Measure<Indexed>.self, Measure<Bare>.self)
    try store.write(durability: .deferred) { tx in
      for id in 0...StoreLog.scanWarningThreshold {
        try tx.insert(Measure<Indexed>(id: id))
        try tx.insert(Measure<Bare>(id: id))
      }
    }
    try store.read { (tx) throws in
      func scan<Kind: MeasureKind>(_ model: Measure<Kind>.Type) throws {
        _ = try tx.count(model.all)
        _ = try tx.first(model.where { $0.cold == 0 })
        _ = try tx.fetch(model.where { $0.cold == -1 })
        _ = try tx.fetch(model.where { $0.cold == -2 })
        _ = try tx.count(model.where { $0.hot == -1 })
        _ = try tx.fetch(model.all.order(by: \.cold).limit(1))
        _ = try tx.fetch(model.where { $0.cold == 5 && $0.hot == 6 })
      }
      try scan(Measure<Bare>.self)
      #expect(log.entries.filter { $0.level >= .warning } == [])
      try scan(Measure<Indexed>.self)
      _ = try tx.fetch(Measure<Indexed>.where { $0.indexed == 7 })
    }
    let scans = log.entries("a query scanned many objects: an index may be missing")
    #expect(scans.map(\.level) == [.warning, .warning, .warning])
    #expect(scans.compactMap { $0.metadata["fields"] } == ["cold", "hot", "cold, hot"])
    let first = ["model": "indexed", "fields": "cold", "objects": "10001", "sorts": "false"]
    #expect(scans.first?.metadata == first)
  }

  @Test func `no log message contains a stored value`() throws {
    let store = try open(Ticket.self)
    let secret = "secret seat"
    try store.write { tx in try tx.insert(Ticket(id: 1, seat: secret, row: 0)) }
    let path = folder.path("lines.jsonl")
    try store.exportJSONLines(to: path)
    try store.importJSONLines(from: path)
    _ = try store.read { try $0.fetch(Ticket.all) }
    #expect(log.entries("imported objects").count == 1)
    #expect(
      !log.entries.contains { entry in
        ([entry.message] + entry.metadata.values).contains { $0.contains(secret) }
      }
    )
  }
}

protocol MeasureKind: Sendable, SendableMetatype {
  static var name: String { get }
  static var isIndexed: Bool { get }
}

enum Indexed: MeasureKind {
  static var name: String { "indexed" }
  static var isIndexed: Bool { true }
}

enum Bare: MeasureKind {
  static var name: String { "bare" }
  static var isIndexed: Bool { false }
}

/// A model with or without an index.
struct Measure<Kind: MeasureKind>: Model {
  struct Columns: Sendable {
    let cold = Column<Measure, Int>(position: 1)
    let hot = Column<Measure, Int>(position: 2)
    let indexed = Column<Measure, Int>(position: 3)
  }

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: Kind.name,
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema("cold", Int.self),
        FieldSchema("hot", Int.self, isHot: true),
        FieldSchema("indexed", Int.self, isIndexed: Kind.isIndexed),
      ]
    )
  }

  var id: Int
  var primaryKey: Int { id }

  init(id: Int) { self.id = id }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(id)
    record.encode(id)
    record.encode(id)
  }
}
