internal import Foundation
internal import ObjectStore
internal import TestSupport

/// A store of a few hundred pages, with multi-level trees, overflow pages and free pages.
struct SampleStore {
  /// The contents of the data file.
  let bytes: [UInt8]

  init(in path: String) throws {
    do {
      let store = try Store(at: path, models: [Sample.self, Spot.self, KeyedSpot.self])
      for first in stride(from: 0, to: 300, by: 60) {
        try store.write(durability: .deferred) { tx in
          if first == 0 { for name in ["here", "there"] { try tx.insert(Spot(name)) } }
          for id in first..<first + 60 { try tx.insert(Self.sample(id)) }
        }
      }
      try store.write(durability: .deferred) { tx in
        try tx.insert(contentsOf: (0..<200).map { KeyedSpot($0) })
        for id in stride(from: 0, to: 300, by: 4) { try tx.delete(Sample.self, key: id) }
        _ = try tx.update(Sample.self, key: 1) { $0.hits += 1 }
      }
    }
    bytes = Array(try Data(contentsOf: URL(filePath: path + "/data.mdb")))
  }

  private static func sample(_ id: Int) -> Sample {
    var sample = Sample(id: id)
    sample.flag = id.isMultiple(of: 2)
    sample.big = UInt64(id * id)
    sample.score = Double(id) / 3
    sample.amount = Decimal(id)
    sample.name = id.isMultiple(of: 3) ? nil : "sample \(id)"
    sample.bytes = Data(repeating: UInt8(id % 256), count: id.isMultiple(of: 50) ? 10_000 : 40)
    sample.tags = ["t\(id % 5)", "u\(id % 7)"]
    sample.spot = id.isMultiple(of: 2) ? Reference("here") : nil
    sample.spots = [Reference("there")]
    return sample
  }

  /// Opens the store, reads all objects and writes to it.
  ///
  /// - Throws: `StoreError`.
  static func use(_ path: String) throws {
    let store = try Store(at: path, models: [Sample.self, Spot.self, KeyedSpot.self])
    let token = try store.historyToken()
    let keys = try store.read { tx in
      _ = try tx.fetch(Spot.all)
      _ = try tx.fetch(KeyedSpot.all)
      return try tx.fetch(Sample.all).map(\.id)
    }
    _ = try store.exportJSONLines { _ in }
    _ = try store.statistics()
    try store.write(durability: .deferred) { tx in
      for key in keys.prefix(20) { try tx.delete(Sample.self, key: key) }
      for key in keys.dropFirst(20).prefix(20) {
        _ = try tx.update(Sample.self, key: key) { sample in
          sample.name = "changed \(key)"
          sample.hits += 1
        }
      }
      for id in 10_000..<10_040 { try tx.upsert(Self.sample(id)) }
      for number in 0..<20 { try tx.delete(KeyedSpot.self, key: KeyedSpot(number).name) }
      try tx.upsert(contentsOf: (150..<250).map { KeyedSpot($0) })
    }
    _ = try store.changes(since: token, of: Sample.self)
    _ = try store.rebuildIndexes()
    try store.checkPages()
  }
}
