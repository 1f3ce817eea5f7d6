import Foundation

/// Runs every workload, the contenders in turn inside each, and checks what they did.
struct Workloads {
  static let batch = 1_000

  let count: Int
  let folder: URL
  let generator = DownloadGenerator()
  var random = SplitMix64(state: 42)
  var round = 0
  /// The last round in which each record changed.
  var rounds: [Int: Int] = [:]
  var contenders: [any Contender] = []
  var rows: [Row] = []

  /// Compares stores of `count` records below `folder`.
  init(count: Int, folder: URL) {
    self.count = count
    self.folder = folder
  }

  mutating func run() throws {
    try load(repetitions: 3)
    try loadDurably(repetitions: 3)
    try look(repetitions: 7)
    try scan(repetitions: 7)
    try measureFiles()
    try replace(repetitions: 5)
    try update("newest", repetitions: 15) { [count] index in
      max(count - Self.batch, 0) + index
    }
    var random = random
    try update("random", repetitions: 15) { [count] _ in
      Int.random(in: 0..<count, using: &random)
    }
    try addToFull(repetitions: 15)
    try checkTotals()
  }

  // MARK: Turns

  func downloads(_ range: Range<Int>) -> [Download] {
    range.map { generator.download($0) }
  }

  func turn(_ repetition: Int) -> [Entry] { turn(Entry.all, repetition) }

  /// All of them, beginning with another one in each repetition.
  func turn<Element>(_ all: [Element], _ repetition: Int) -> [Element] {
    let first = repetition % max(all.count, 1)
    return Array(all[first...] + all[..<first])
  }

  func emptyFolder(_ name: String) throws -> String {
    let store = folder.appending(path: name)
    try? FileManager.default.removeItem(at: store)
    try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
    return store.path
  }
}
