import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite(.timeLimit(.minutes(10))) struct CommitsTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self])
  }

  private func write(_ id: Int64, to store: Store) throws {
    try store.write { try $0.insert(Everything(id: id)) }
  }

  private func writeNothing() throws { try store.write { _ in } }

  @Test func `every commit is delivered, including commits of another store instance`() async throws
  {
    let other = try Store(at: folder.path, models: [Everything.self])
    var commits = store.commits.makeAsyncIterator()
    var last = try #require(try await commits.next())
    for id in Int64(1)...6 {
      try write(id, to: id.isMultiple(of: 2) ? store : other)
      let next = try #require(try await commits.next())
      #expect(next > last)
      last = next
    }
  }

  @Test func `commits made between two reads are delivered as one element`() async throws {
    var commits = store.commits.makeAsyncIterator()
    let first = try #require(try await commits.next())
    for id in Int64(1)...10 { try write(id, to: store) }
    #expect(try await commits.next() == first + 10)
    try write(11, to: store)
    #expect(try await commits.next() == first + 11)
  }

  @Test func `a write without changes is not delivered`() async throws {
    var commits = store.commits.makeAsyncIterator()
    let first = try #require(try await commits.next())
    try writeNothing()
    try write(1, to: store)
    #expect(try await commits.next() == first + 1)
  }

  @Test func `the sequence ends when its task is cancelled or observations end`() async throws {
    let store = store
    let reader = Task {
      var count = 0
      for try await _ in store.commits { count += 1 }
      return count
    }
    reader.cancel()
    #expect(try await reader.value <= 1)
    let other = Task { for try await _ in store.commits {} }
    store.stopObserving()
    try await other.value
  }
}
