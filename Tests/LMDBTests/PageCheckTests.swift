import LMDB
import TestSupport
import Testing

/// Every file that LMDB writes must pass the check of its pages.
@Suite struct PageCheckTests {
  @Test(arguments: 0..<6) func `the check passes after every random commit`(seed: UInt64) throws {
    let folder = try TemporaryFolder(inMemory: true)
    let environment = try Environment.open(folder.path)
    var random = SplitMix64(seed: seed)
    var names = ["a", "b", "c"]
    for round in 0..<60 {
      if Int.random(in: 0..<10, using: &random) == 0 { names.append("database \(round)") }
      let count = Int.random(in: 1...(round.isMultiple(of: 5) ? 800 : 30), using: &random)
      let largest = [20, 300, 2_500, 30_000].randomElement(using: &random) ?? 20
      let reader = round.isMultiple(of: 3) ? try environment.beginRead() : nil
      try environment.write { transaction in
        for _ in 0..<count {
          let name = names.randomElement(using: &random) ?? "a"
          let database = try transaction.createDatabase(name)
          let length = Int.random(in: 0...60, using: &random)
          let number = Int.random(in: 0..<2_000, using: &random)
          let key = "\(number)" + String(filledWith: "k", count: length * length / 10)
          if Int.random(in: 0..<3, using: &random) == 0 {
            _ = try transaction.delete(Array(key.utf8).span, in: database)
          } else {
            let size = Int.random(in: 0...largest, using: &random)
            try transaction.put(String(filledWith: "v", count: size), for: key, in: database)
          }
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
          let database = try transaction.createDatabase(names[0])
          try transaction.removeAll(in: database)
        }
      }
      try environment.checkPages()
      _ = consume reader
    }
  }

  @Test func `the check passes after a large value was replaced by a smaller one`() throws {
    let folder = try TemporaryFolder()
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    try environment.write { transaction in
      try transaction.put(String(filledWith: "x", count: 30_000), for: "key", in: database)
      try transaction.put(String(filledWith: "x", count: 9_000), for: "key", in: database)
    }
    try environment.checkPages()
  }

  @Test func `the check passes for a new environment`() throws {
    let folder = try TemporaryFolder()
    do { _ = try Environment.open(folder.path) }
    let options = EnvironmentOptions(checksPages: true)
    try Environment.open(folder.path, options: options).checkPages()
  }
}
