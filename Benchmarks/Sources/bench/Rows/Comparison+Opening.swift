import Foundation

extension Comparison {
  /// Opens closed stores whose files are in the page cache.
  mutating func open() throws {
    var small = TableRow(
      "open a store of 10,000 records, warm",
      .microseconds,
      [.atMostMore(2_000, .chosen)]
    )
    try open(&small, smallFolder) { _ in }
    let smallName = "\(Contenders.ours), 10,000 records"
    // Equal, within the variance of opening.
    var large = TableRow(
      "open a store of \(count) records, warm",
      .microseconds,
      [.atMostMore(2_000, .chosen), .atMost(1.25, .figure(smallName))]
    )
    for sample in small.samples[Contenders.ours] ?? [] { large.add(sample, for: smallName) }
    try open(&large, folder) { store in
      guard try store.download(generator.url(count / 2)) != nil else {
        throw Mismatch("a record is lost")
      }
    }
    rows += [small, large]
  }

  private func open(
    _ row: inout TableRow,
    _ folder: URL,
    _ check: (any Contender) throws -> Void
  ) throws {
    for repetition in repetitions(15) {
      for name in turn(names, repetition) {
        var stopwatch = Stopwatch()
        let store = try stopwatch.run { try Contenders.open(name, in: folder) }
        row.add(timeOf: stopwatch, in: 1e-6, name)
        try check(store)
      }
    }
  }
}
