import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite(.timeLimit(.minutes(10))) struct CommitFeedTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self])
  }

  private func models(_ id: UInt64) -> [HistoryEntry.ModelEntry] {
    var changes = CoalescedChanges()
    if id.isMultiple(of: 2) { changes.coverAllObjects() }
    return [.init(model: "Everything \(id)", layoutNumber: 0, changes: changes)]
  }

  /// A commit may happen after an observer has read the last commit number and before it waits.
  @Test func `waiting for a commit that was already made returns immediately`() async throws {
    let before = try store.commitNumber()
    try await store.write { try $0.insert(Everything(id: 1)) }
    await store.feed.wait(after: before)
  }

  @Test func `a wait ends with the next commit`() async throws {
    let store = store
    let registration = store.feed.register(ObserverID())
    let before = try store.commitNumber()
    async let waited: Void = store.feed.wait(after: before)
    try await store.write { try $0.insert(Everything(id: 1)) }
    await waited
    _ = registration
  }

  @Test func `commits are delivered in order, independent of the order of publishing`() throws {
    let registration = store.feed.register(ObserverID())
    let last = try store.commitNumber()
    for number in [last + 2, last + 1, last + 4, last + 3] {
      store.feed.publish(number, models(number))
    }
    let commits = try #require(store.feed.commits(after: last, through: last + 4))
    #expect(commits.map(\.number) == [last + 1, last + 2, last + 3, last + 4])
    #expect(commits.map(\.models) == (1...4).map { models(last + $0) })
    #expect(store.feed.commits(after: last, through: last + 3)?.count == 3)
    #expect(store.feed.commits(after: last, through: last + 5) == nil)
    _ = registration
  }

  @Test func `a suppressed commit is kept until the observer has read past it`()
    throws
  {
    let observer = ObserverID()
    let registration = store.feed.register(observer)
    let last = try store.commitNumber()
    for number in [last + 1, last + 3] {
      store.feed.publish(number, [], store.feed.prepare(number, suppressedFor: [observer]))
    }
    let open = store.feed.prepare(last + 4, suppressedFor: [observer])
    #expect(registration.takeSuppressed(through: last + 2) == [last + 1])
    #expect(registration.takeSuppressed(through: last + 3) == [last + 3])
    #expect(registration.takeSuppressed(through: last + 4) == nil)
    store.feed.publish(last + 4, [], open)
    #expect(registration.takeSuppressed(through: last + 4) == [last + 4])
    #expect(registration.takeSuppressed(through: last + 4) == [])
  }
}
