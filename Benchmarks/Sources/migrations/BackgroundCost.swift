import Dispatch
import Foundation
import ObjectStore
import Synchronization

/// Measures what reads and writes cost while an index is built in the background.
struct BackgroundCost {
  let template: String
  let folder: String
  let count: Int

  /// The work that a program does meanwhile.
  enum Work: String, CaseIterable {
    /// Reads 100 objects by their keys.
    case reads
    /// Changes 10 objects in a durable transaction.
    case writes
  }

  func measure(_ report: inout Report) throws {
    for work in Work.allCases {
      let path = folder + "/background"
      try FileManager.default.copyItem(atPath: template, toPath: path)
      defer { try? FileManager.default.removeItem(atPath: path) }
      var quiet: Rates
      do {
        let store = try Store(at: path, models: [PlainArticle.self])
        _ = try rates(of: work, in: store, as: PlainArticle.self) { $0 < .seconds(2) }
        quiet = try rates(of: work, in: store, as: PlainArticle.self) { $0 < .seconds(10) }
      }
      let store = try Store(at: path, models: [IndexedArticle.self])
      let busy = try rates(of: work, in: store, as: IndexedArticle.self) { _ in
        try !store.indexBuilds().isEmpty
      }
      report.add("index in the background beside \(work)", "ObjectStore", busy.duration)
      let name = "\(work) beside an index build"
      report.add("\(name): rate", "ObjectStore", busy.rate / quiet.rate, "of the rate without")
      report.add("\(name): 99th percentile", "ObjectStore", busy.slow)
      report.add("\(work) without: 99th percentile", "ObjectStore", quiet.slow)
    }
    let path = folder + "/now"
    try FileManager.default.copyItem(atPath: template, toPath: path)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try Store(at: path, models: [IndexedArticle.self])
    report.add(
      "index, without pauses",
      "ObjectStore",
      try ContinuousClock().measure { try store.finishIndexBuilds() }
    )
    var options = StoreOptions()
    options.indexBuilding = .atOpen
    let other = folder + "/open"
    try FileManager.default.copyItem(atPath: template, toPath: other)
    defer { try? FileManager.default.removeItem(atPath: other) }
    report.add(
      "index, at open",
      "ObjectStore",
      try ContinuousClock().measure {
        _ = try Store(at: other, models: [IndexedArticle.self], options: options)
      }
    )
  }

  struct Rates {
    var rate: Double
    var slow: Duration
    var duration: Duration
  }

  private func rates<A: Article>(
    of work: Work,
    in store: Store,
    as model: A.Type,
    while condition: (Duration) throws -> Bool
  ) throws -> Rates {
    var random = SystemRandomNumberGenerator()
    var times: [Duration] = []
    let start = ContinuousClock.now
    while try condition(start.duration(to: .now)) {
      for _ in 0..<10 {
        let keys = (0..<(work == .reads ? 100 : 10)).map { _ in
          Contents.url(Int.random(in: 0..<count, using: &random))
        }
        let time = try ContinuousClock().measure {
          switch work {
          case .reads:
            try store.read { tx in
              for key in keys { _ = try tx.find(A.self, key: key) }
            }
          case .writes:
            try store.write { tx in
              for key in keys { try tx.update(A.self, key: key) { $0.contents.stars += 1 } }
            }
          }
        }
        times.append(time)
      }
    }
    let total = times.reduce(.zero, +)
    times.sort()
    return Rates(
      rate: Double(times.count) / (total / .seconds(1)),
      slow: times[times.count * 99 / 100],
      duration: start.duration(to: .now)
    )
  }
}
