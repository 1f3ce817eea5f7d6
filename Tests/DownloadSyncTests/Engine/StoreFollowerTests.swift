import DownloadStore
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import DownloadSync

/// Which commits are the engine's own, by their numbers.
@Suite struct OwnCommitsTests {
  private let commits = OwnCommits {}

  private func commit(_ numbers: UInt64...) {
    for number in numbers {
      commits.open(number)
      commits.close(number, isCommitted: true)
    }
  }

  @Test func `own commits are the engine's, in whatever order they end`() {
    #expect(commits.author(ofCommitsAfter: 5, through: 5) == .engine)
    commits.open(6)
    commits.open(7)
    commits.close(7, isCommitted: true)
    commits.close(6, isCommitted: true)
    #expect(commits.author(ofCommitsAfter: 5, through: 7) == .engine)
  }

  @Test func `a commit of another writer before, between or after own ones is noticed`() {
    #expect(commits.author(ofCommitsAfter: 5, through: 6) == .others)
    commit(8)
    #expect(commits.author(ofCommitsAfter: 6, through: 8) == .others)
    commit(9, 11)
    #expect(commits.author(ofCommitsAfter: 8, through: 11) == .others)
    commit(12)
    #expect(commits.author(ofCommitsAfter: 11, through: 13) == .others)
    #expect(commits.author(ofCommitsAfter: 13, through: 13) == .engine)
  }

  @Test func `a commit that is being made is undecided, unless another writer's is there too`() {
    commits.open(6)
    #expect(commits.author(ofCommitsAfter: 5, through: 6) == .undecided)
    #expect(commits.author(ofCommitsAfter: 5, through: 7) == .others)
  }

  @Test func `another writer may use the number of a transaction that was rolled back`() {
    commits.open(6)
    commits.close(6, isCommitted: false)
    #expect(commits.author(ofCommitsAfter: 5, through: 6) == .others)
  }

  @Test func `the end of an awaited commit wakes the engine, once`() {
    let wakes = Mutex(0)
    let commits = OwnCommits { wakes.withLock { $0 += 1 } }
    commits.open(6)
    commits.close(6, isCommitted: true)
    #expect(wakes.withLock { $0 } == 0)
    commits.open(7)
    _ = commits.author(ofCommitsAfter: 6, through: 7)
    commits.close(7, isCommitted: true)
    commits.open(8)
    commits.close(8, isCommitted: true)
    #expect(wakes.withLock { $0 } == 1)
    #expect(commits.author(ofCommitsAfter: 6, through: 8) == .engine)
  }
}

/// Following the commits of other writers.
@Suite struct StoreFollowerTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private let commits = OwnCommits {}

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
  }

  private func url(_ name: String) -> String { "https://example.com/\(name)" }

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
    var follower = try StoreFollower(store.objects, commits)
    #expect(try changes(&follower) == "none")
    _ = try store.addNow([DownloadRequest(url: url("b")), DownloadRequest(url: url("c"))])
    #expect(try changes(&follower) == "b c")
    #expect(try changes(&follower) == "none")
    try store.objects.write { tx in _ = try tx.delete(DownloadRecord.self, key: url("a")) }
    #expect(try changes(&follower) == "-a")
  }

  @Test func `own commits, on whichever thread, do not come back`() async throws {
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    var follower = try StoreFollower(store.objects, commits)
    let (store, commits, url) = (store, commits, url("a"))
    await withTaskGroup(of: Void.self) { group in
      for priority in 1...8 {
        group.addTask {
          try? commits.write(to: store.objects) { tx in
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
    var follower = try StoreFollower(store.objects, commits)
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
    var follower = try StoreFollower(store.objects, commits)
    try store.objects.write { tx in
      guard var record = try tx.find(DownloadRecord.self, key: url("a")) else { return }
      Self.relevantChanges[index](&record)
      try tx.upsert(record)
    }
    #expect(try changes(&follower) == "a")
  }

  @Test func `more changes than a bound are not read`() throws {
    var follower = try StoreFollower(store.objects, commits)
    let names = (0...StoreFollower.maximumChanges).map { "\($0)" }
    _ = try store.addNow(names.map { DownloadRequest(url: url($0)) })
    #expect(try changes(&follower) == "unknown")
    follower.skip(to: try store.objects.historyToken())
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    #expect(try changes(&follower) == "a")
  }

  @Test func `a failed write of the engine is not mistaken for a commit`() throws {
    var follower = try StoreFollower(store.objects, commits)
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try commits.write(to: store.objects) { _ in throw Refusal() }
    }
    _ = try store.addNow([DownloadRequest(url: url("a"))])
    #expect(try changes(&follower) == "a")
  }
}
