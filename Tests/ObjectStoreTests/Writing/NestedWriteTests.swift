import ObjectStore
import TestSupport
import Testing

@Suite struct NestedWriteTests {
  private struct Failure: Error {}

  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self])
  }

  private func all() throws -> [Everything] { try store.read { try $0.fetch(Everything.all) } }

  @Test func `a nested write that throws rolls back only its own changes`() throws {
    try store.write { tx in
      try tx.insert(Everything(id: 1, received: 1))
      #expect(throws: Failure.self) {
        try tx.nested { tx in
          try tx.insert(Everything(id: 2))
          try tx.update(Everything.self, key: 1) { $0.received = 2 }
          try tx.delete(Everything.self, key: 1)
          throw Failure()
        }
      }
      let inside = try tx.fetch(Everything.all)
      #expect(inside == [Everything(id: 1, received: 1)])
      try tx.nested { try $0.insert(Everything(id: 3)) }
      try tx.insert(Everything(id: 4))
    }
    #expect(try all() == [Everything(id: 1, received: 1), Everything(id: 3), Everything(id: 4)])
  }

  @Test func `a nested write and the outer write read each other's hot fields`() throws {
    try store.write { tx in
      for id in 1...40 { try tx.insert(Everything(id: Int64(id), received: 1)) }
      let sum = try tx.nested { tx in
        for id in 20...60 { try tx.upsert(Everything(id: Int64(id), received: 10)) }
        return try tx.fetch(Everything.all).map(\.received).reduce(0, +)
      }
      #expect(sum == 19 + 410)
      try tx.update(Everything.self, key: 60) { $0.received = 100 }
      let outside = try tx.fetch(Everything.all).map(\.received).reduce(0, +)
      #expect(outside == 19 + 400 + 100)
    }
    #expect(try all().map(\.received).reduce(0, +) == 519)
  }

  @Test func `ids assigned by a rolled-back write are not confused with later ids`() throws {
    try store.write { tx in
      try tx.insert(Everything(id: 1))
      for round in 0..<5 {
        try? tx.nested { tx in
          try tx.insert(Everything(id: Int64(10 + round)))
          try tx.delete(Everything.self, key: 1)
          if round.isMultiple(of: 2) { throw Failure() }
          try tx.insert(Everything(id: 1))
        }
        try tx.insert(Everything(id: Int64(20 + round)))
      }
    }
    #expect(Set(try all().map(\.id)) == [1, 11, 13, 20, 21, 22, 23, 24])
    #expect(try all().count == 8)
  }

  @Test func `writes nest 20 levels deep, and each rolls back on its own`() throws {
    func write(_ depth: Int64, _ tx: inout StoreTransaction) throws {
      try tx.insert(Everything(id: depth))
      if depth < 20 { try? tx.nested { try write(depth + 1, &$0) } }
      if depth == 11 { throw Failure() }
    }
    try store.write { try write(1, &$0) }
    #expect(try all().map(\.id) == Array(1...10))
  }

  @Test func `hasChanges is set only by a nested write that succeeds`() throws {
    try store.write { tx in
      try? tx.nested { tx in
        try tx.insert(Everything(id: 1))
        throw Failure()
      }
      let before = tx.hasChanges
      try tx.nested { try $0.insert(Everything(id: 1)) }
      let after = tx.hasChanges
      #expect(!before && after)
    }
  }

  /// Compares nested writes of random depth, which throw at random, with a dictionary.
  @Test(arguments: 0..<10) func `random nested writes match a dictionary`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    func write(
      _ depth: Int,
      _ objects: inout [Int64: Everything],
      _ tx: inout StoreTransaction,
      _ random: inout SplitMix64
    ) throws {
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let id = Int64.random(in: 0..<50, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          let object = Everything(id: id, text: "\(random.next())")
          try tx.upsert(object)
          objects[id] = object
        case 1:
          let received = Int64.random(in: 0..<9, using: &random)
          try tx.update(Everything.self, key: id) { $0.received = received }
          objects[id]?.received = received
        case 2:
          try tx.delete(Everything.self, key: id)
          objects[id] = nil
        default:
          guard depth < 4 else { continue }
          var inner = objects
          let result: Void? = try? tx.nested { try write(depth + 1, &inner, &$0, &random) }
          if result != nil { objects = inner }
        }
      }
      if depth > 0, Int.random(in: 0..<3, using: &random) == 0 { throw Failure() }
    }
    var objects: [Int64: Everything] = [:]
    for _ in 0..<25 {
      try store.write { try write(0, &objects, &$0, &random) }
      let stored = try all()
      #expect(Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) }) == objects)
    }
  }
}
