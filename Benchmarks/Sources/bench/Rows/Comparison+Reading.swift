extension Comparison {
  /// Loads all files into memory and into the memory map.
  func warm() throws {
    let chunk = 10_000
    var stopwatch = Stopwatch()
    for start in stride(from: 0, to: count, by: chunk) {
      let urls = stride(from: start, to: min(start + chunk, count), by: 2).map { generator.url($0) }
      for (_, store) in contenders { _ = try store.read(urls, &stopwatch) }
    }
  }

  mutating func readWhole() throws {
    var row = TableRow(
      "lookup by url, whole struct",
      .nanoseconds,
      [
        .atMost(1.4, .chosen), .atMost(2.2, .best), .faster(3.5, .statements),
        .faster(18, .codable), .atMost(1.4, .best).byKey, .faster(3.5, .statements).byKey,
      ]
    )
    for repetition in repetitions(7) {
      let indices = randomIndices(30_000)
      let urls = indices.map { generator.url($0) }
      let expected = Digest(indices.map { download($0) })
      for (name, store) in turn(contenders, repetition) {
        var stopwatch = Stopwatch()
        try expect(expected, store.read(urls, &stopwatch), name)
        row.add(processorTimeOf: stopwatch, in: 1e-9, for: urls.count, name)
      }
    }
    rows.append(row)
  }

  /// Looks up batches of records with one call each, beside single lookups of other records.
  mutating func readTogether() throws {
    let single = "\(Contenders.ours), one by one"
    var row = TableRow(
      "1,000 lookups by url in one call, whole structs, a record",
      .nanoseconds,
      [.faster(2.5, .figure(single))]
    )
    for repetition in repetitions(7) {
      for (name, store) in turn(contenders, repetition) {
        guard let reader = store as? any BatchReader else { continue }
        for isSingle in turn([true, false], repetition) {
          var stopwatch = Stopwatch()
          let batches = (0..<30).map { _ in randomIndices(Self.batch) }
          for indices in batches {
            let urls = indices.map { generator.url($0) }
            let found =
              try isSingle
              ? reader.read(urls, &stopwatch) : reader.readTogether(urls, &stopwatch)
            try expect(Digest(indices.map { download($0) }), found, name)
          }
          row.add(
            processorTimeOf: stopwatch,
            in: 1e-9,
            for: batches.count * Self.batch,
            isSingle ? single : name
          )
        }
      }
    }
    rows.append(row)
  }

  mutating func readOneField() throws {
    var row = TableRow(
      "lookup by url, one field of a view",
      .nanoseconds,
      [.atMost(1.25, .chosen), .faster(3.5, .statements)]
    )
    for repetition in repetitions(7) {
      let indices = randomIndices(30_000)
      let urls = indices.map { generator.url($0) }
      let expected = indices.reduce(0 as Int64) { $0 &+ download($1).received }
      for (name, store) in turn(contenders, repetition) {
        var stopwatch = Stopwatch()
        try expect(expected, store.sumReceived(of: urls, &stopwatch), name)
        row.add(processorTimeOf: stopwatch, in: 1e-9, for: urls.count, name)
      }
    }
    rows.append(row)
  }

  mutating func readFailed() throws {
    var row = TableRow(
      "indexed query, 1 % of records, whole structs",
      .milliseconds,
      [.atMost(1.7, .chosen), .faster(1.6, .statements), .faster(4, .codable)]
    )
    try measureProcessorTime(&row, of: facts.failed) { try $0.readFailed(&$1) }
    rows.append(row)
  }

  mutating func filter() throws {
    var row = TableRow(
      "filter on an unindexed number, count",
      .milliseconds,
      [.atMost(1.5, .chosen), .faster(5, .statements)]
    )
    try measureProcessorTime(&row, of: facts.countAboveBound) {
      try $0.countReceived(above: Facts.bound, &$1)
    }
    rows.append(row)
  }

  /// Measures processor time, after a first round that warms up the caches.
  private func measureProcessorTime<Value: Equatable>(
    _ row: inout TableRow,
    of expected: Value,
    _ body: (any Contender, inout Stopwatch) throws -> Value
  ) throws {
    let repetitions = repetitions(7)
    for repetition in 0...repetitions.upperBound {
      for (name, store) in turn(contenders, repetition) {
        var stopwatch = Stopwatch()
        try expect(expected, body(store, &stopwatch), name)
        if repetition > 0 { row.add(processorTimeOf: stopwatch, in: 1e-3, name) }
      }
    }
  }
}
