import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadSync
@testable import ObjectStoreCore

/// Following the commits of other writers.
@Suite struct StoreFollowerTests {
  private let folder: TemporaryFolder
  private let store: RecordStore

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
  }

  private func url(_ name: String) -> String { "https://example.com/\(name)" }

  /// Writes as the engine and its sinks do, with the synchronous overload.
  private static func write(
    to store: RecordStore,
    _ own: ObserverID,
    _ body: (inout StoreTransaction) throws -> Void
  ) throws {
    try store.objects.write(withoutNotifying: [own], body)
  }

  private func changes(_ follower: inout StoreFollower) throws -> String {
    switch try follower.next() {
    case .none: "none"
    case .some(let inserted, let updated, let deleted):
      ((inserted + updated).map(\.filename).sorted() + deleted.map { "-\($0.suffix(1))" }).joined(
        separator: " "
      )
    case .unknown: "unknown"
    }
  }

  @Test func `the records of others are returned once`() throws {
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    var follower = try StoreFollower(store.objects)
    #expect(try changes(&follower) == "none")
    _ = try store.addNow([DownloadRequest(url: url("b")), DownloadRequest(url: url("c"))])
    #expect(try changes(&follower) == "b c")
    #expect(try changes(&follower) == "none")
    try store.objects.write { tx in _ = try tx.delete(DownloadRecord.self, key: url("a")) }
    #expect(try changes(&follower) == "-a")
  }

  @Test func `own commits, on whichever thread, do not come back`() async throws {
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    var follower = try StoreFollower(store.objects)
    let (store, own, url) = (store, follower.observer, url("a"))
    await withTaskGroup(of: Void.self) { group in
      for priority in 1...8 {
        group.addTask {
          try? Self.write(to: store, own) { tx in
            guard var record = try tx.find(DownloadRecord.self, key: url) else { return }
            record.priority = Int32(priority)
            try tx.upsert(record)
          }
        }
      }
    }
    #expect(try changes(&follower) == "none")
    _ = try store.addNow([DownloadRequest(url: self.url("b"))])
    #expect(try changes(&follower).contains("b"))
  }

  @Test func `a change of the progress does not concern an engine`() throws {
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    var follower = try StoreFollower(store.objects)
    try store.objects.write { tx in
      guard var record = try tx.find(DownloadRecord.self, key: url("a")) else { return }
      record.updatedAt = Date(timeIntervalSince1970: 1)
      try tx.upsert(record)
    }
    #expect(try changes(&follower) == "")
  }

  /// Each change of a record that an engine has to act on.
  private static let relevantChanges: [@Sendable (inout DownloadRecord) -> Void] = [
    { $0.state = .paused }, { $0.intent = .pause }, { $0.generation += 1 }, { $0.priority = 7 },
    { $0.startsImmediately = true }, { $0.isHeld = true },
    { $0.nextRetryAt = Date(timeIntervalSince1970: 1) }, { $0.root = "disk" },
    { $0.notBefore = Date(timeIntervalSince1970: 1) }, { $0.bytesPerSecond = 7 },
    { $0.connections = 7 },
  ]

  @Test(arguments: relevantChanges.indices)
  func `a change of what an engine decides by concerns it`(index: Int) throws {
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    var follower = try StoreFollower(store.objects)
    try store.objects.write { tx in
      guard var record = try tx.find(DownloadRecord.self, key: url("a")) else { return }
      Self.relevantChanges[index](&record)
      try tx.upsert(record)
    }
    #expect(try changes(&follower) == "a")
  }

  @Test func `more changes than a bound are not read`() throws {
    var follower = try StoreFollower(store.objects)
    let names = (0...StoreFollower.maximumChanges).map { "\($0)" }
    _ = try store.addNow(names.map { DownloadRequest(url: url($0)) })
    #expect(try changes(&follower) == "unknown")
    follower.skip(to: try store.objects.historyToken())
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    #expect(try changes(&follower) == "a")
  }

  @Test func `a commit of the engine that is being made may hide one of others`() throws {
    var follower = try StoreFollower(store.objects)
    #expect(try follower.isCurrent())
    let number = try store.objects.commitNumber() + 1
    let prepared = store.objects.feed.prepare(number, suppressedFor: [follower.observer])
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    #expect(try !follower.hasChanges() && !follower.isCurrent())
    store.objects.feed.publish(number, nil, prepared)
    #expect(try follower.isCurrent())
    _ = try store.addNow([DownloadRequest(url: url("b"))])
    #expect(try !follower.isCurrent())
    #expect(try changes(&follower).contains("b"))
    #expect(try follower.isCurrent())
  }

  @Test func `a failed write of the engine is not mistaken for a commit`() throws {
    var follower = try StoreFollower(store.objects)
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try Self.write(to: store, follower.observer) { _ in throw Refusal() }
    }
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    #expect(try changes(&follower) == "a")
  }
}
