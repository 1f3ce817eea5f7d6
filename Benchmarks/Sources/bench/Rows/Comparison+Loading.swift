import Foundation

extension Comparison {
  /// Fills the stores, which the other rows then use.
  mutating func load() throws {
    var row = TableRow(
      "bulk insert in one transaction, a record",
      .microseconds,
      [.faster(0.6, .best), .faster(3.5, .statements)]
    )
    let repetitions = wanted.contains(.load) ? repetitions(3) : 0..<1
    for repetition in repetitions {
      contenders = []
      for name in turn(names, repetition) {
        let store = try emptyStore(name)
        var stopwatch = Stopwatch()
        var facts = Facts()
        try fill(store, count, &stopwatch) { facts.add($0) }
        self.facts = facts
        row.add(timeOf: stopwatch, in: 1e-6, for: count, name)
        contenders.append((name, store))
      }
    }
    for (name, store) in contenders {
      try check(store, name, (0..<100).map { $0 * (count / 100) })
      var stopwatch = Stopwatch()
      try expect(
        facts.countAboveBound,
        store.countReceived(above: Facts.bound, &stopwatch),
        name
      )
    }
    if wanted.contains(.load) { rows.append(row) }
  }

  private func fill(
    _ store: any Contender,
    _ count: Int,
    _ stopwatch: inout Stopwatch,
    _ body: ([Download]) -> Void = { _ in }
  ) throws {
    let chunk = 10_000
    var next = 0
    try store.load(&stopwatch) {
      guard next < count else { return nil }
      let downloads = (next..<min(next + chunk, count)).map { generator.download($0) }
      next += chunk
      body(downloads)
      return downloads
    }
  }

  private func emptyStore(_ name: String) throws -> any Contender {
    try? FileManager.default.removeItem(at: folder.appending(path: name))
    return try Contenders.open(name, in: folder)
  }

  mutating func measureSizes() throws {
    var row = TableRow("file after the load", .megabytes, [.atMost(1, .statements)])
    for (name, store) in contenders { row.add(Double(try store.size()) / 1e6, for: name) }
    rows.append(row)
  }

  mutating func loadInBatches() throws {
    var row = TableRow(
      "1,000 records a durable transaction, a record",
      .microseconds,
      [.faster(0.7, .best), .faster(2.5, .statements)]
    )
    let count = min(count, 100_000)
    let folder = folder.appending(path: "batches")
    defer { try? FileManager.default.removeItem(at: folder) }
    for repetition in repetitions(7) {
      for name in turn(names, repetition) {
        try? FileManager.default.removeItem(at: folder)
        let store = try Contenders.open(name, in: folder)
        var stopwatch = Stopwatch()
        for start in stride(from: 0, to: count, by: Self.batch) {
          let end = min(start + Self.batch, count)
          try store.add((start..<end).map { generator.download($0) }, &stopwatch)
        }
        row.add(timeOf: stopwatch, in: 1e-6, for: count, name)
        for index in stride(from: 0, to: count, by: count / 100) {
          try expect(
            generator.download(index),
            store.download(generator.url(index)) ?? generator.download(0),
            name
          )
        }
      }
    }
    rows.append(row)
  }

  // MARK: Small stores

  var smallFolder: URL { folder.appending(path: "small") }

  func loadSmall() throws {
    for name in names {
      var stopwatch = Stopwatch()
      try fill(Contenders.open(name, in: smallFolder), Self.smallCount, &stopwatch)
    }
  }
}
