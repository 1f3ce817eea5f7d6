import TestSupport
import Testing

@testable import ObjectStoreCore

/// Tests several observers while several tasks write in shared commits.
@Suite(.timeLimit(.minutes(10))) struct ObservationStressTests {
  private struct Failure: Error {}

  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self])
  }

  @Test func `observers of concurrent writers replay every change up to the final result`()
    async throws
  {
    let queries = [
      Everything.all,
      Everything.where { $0.small > 2 || $0.id < 0 },
      Everything.all.order(by: \.received, .descending),
      Everything.all.order(by: \.received).limit(8),
      Everything.where { $0.id < 40 }.order(by: \.text).order(by: \.small, .descending),
    ]
    try await withThrowingTaskGroup { group in
      for query in queries {
        group.addTask { try await observe(query) }
      }
      try await withThrowingTaskGroup { writers in
        for seed in UInt64(0)..<6 {
          writers.addTask { try await write(seed) }
        }
        try await writers.waitForAll()
      }
      // The object that ends every observer: it sorts first in the query with a limit.
      try await store.write { _ = try $0.upsert(Everything(id: -1, small: 9, received: -1)) }
      try await group.waitForAll()
    }
    #expect(!store.feed.isObserved)
  }

  private func write(_ seed: UInt64) async throws {
    for round in 0..<60 {
      do {
        try await store.write(durability: .deferred) { tx in
          var random = SplitMix64(seed: seed * 1_000 + UInt64(round))
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            let id = Int64.random(in: 0..<50, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
              try tx.delete(Everything.self, key: id)
            } else {
              let object = Everything(
                id: id,
                small: .random(in: 0..<6, using: &random),
                text: "\(Int.random(in: 0..<9, using: &random))",
                received: .random(in: 0..<9, using: &random)
              )
              _ = try tx.upsert(object)
            }
          }
          if Int.random(in: 0..<5, using: &random) == 0 { throw Failure() }
        }
      } catch is Failure {}
    }
  }

  private func observe(_ query: Query<Everything>) async throws {
    var result: [Everything] = []
    for try await change in store.observe(query) {
      if change.isInitial { result = Array(change.snapshot) }
      for offset in change.deletions.reversed() { result.remove(at: offset) }
      for offset in change.insertions { result.insert(change.snapshot[offset], at: offset) }
      for offset in change.modifications { result[offset] = change.snapshot[offset] }
      #expect(result == Array(change.snapshot))
      if result.contains(where: { $0.id == -1 }) { break }
    }
    let last = try await store.read { try $0.fetch(query) }
    #expect(result == last)
  }
}
