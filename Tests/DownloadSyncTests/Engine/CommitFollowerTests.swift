import DownloadStore
import TestSupport
import Testing

@testable import DownloadSync
@testable import ObjectStoreCore

/// Following the commits that others have made.
@Suite struct CommitFollowerTests {
  private let folder: TemporaryFolder
  private let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store")).objects
  }

  private func next(_ follower: inout CommitFollower) throws -> CommitFollower.Commits {
    try follower.next()
  }

  private func insert(_ id: Int64, without observers: Set<ObserverID> = []) throws {
    let record = DownloadRecord.sample(url: "https://example.com/\(id)")
    try store.write(withoutNotifying: observers) { tx in try tx.upsert(record) }
  }

  @Test func `own commits are none, in whatever number`() throws {
    try insert(1)
    var follower = try CommitFollower(store)
    #expect(try next(&follower) == .none)
    for id in Int64(2)...9 { try insert(id, without: [follower.observer]) }
    #expect(try next(&follower) == .none)
    #expect(try next(&follower) == .none)
  }

  @Test func `a commit of another writer before, between or after own ones is noticed once`() throws
  {
    var follower = try CommitFollower(store)
    var id: Int64 = 0
    for others in [[true, false], [false, true, false], [false, true], [true]] {
      for isOther in others {
        id += 1
        try insert(id, without: isOther ? [] : [follower.observer])
      }
      #expect(try next(&follower) == .others, "\(others)")
      #expect(try next(&follower) == .none)
    }
  }

  @Test func `a commit that excludes another follower is another writer's`() throws {
    var follower = try CommitFollower(store)
    let other = try CommitFollower(store)
    try insert(1, without: [other.observer])
    #expect(try next(&follower) == .others)
  }

  @Test func `a visible commit whose write has not returned is undecided`() throws {
    var follower = try CommitFollower(store)
    let number = try store.commitNumber() + 1
    let prepared = store.feed.prepare(number, suppressedFor: [follower.observer])
    try insert(1)
    #expect(try next(&follower) == .undecided)
    store.feed.publish(number, nil, prepared)
    #expect(try next(&follower) == .none)
  }

  @Test func `another writer may use the number of a transaction that was rolled back`() throws {
    struct Refusal: Error {}
    var follower = try CommitFollower(store)
    #expect(throws: Refusal.self) {
      try store.write(withoutNotifying: [follower.observer]) { tx in
        try tx.upsert(DownloadRecord.sample())
        throw Refusal()
      }
    }
    try insert(2)
    #expect(try next(&follower) == .others)
  }

  @Test func `a follower does not count as an observer of the store`() throws {
    var follower = try CommitFollower(store)
    #expect(!store.feed.isObserved)
    try insert(1)
    #expect(try next(&follower) == .others)
  }
}
