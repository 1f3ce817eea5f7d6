extension Comparison {
  mutating func upsert() throws {
    var row = TableRow(
      "upsert of existing records, random order, a record",
      .microseconds,
      [
        .faster(0.7, .best), .faster(3, .statements), .faster(0.7, .best).byKey,
        .faster(3, .statements).byKey,
      ]
    )
    for repetition in repetitions(5) {
      round += 1
      let indices = randomIndices(10_000)
      let downloads = Set(indices).sorted().map { index in
        let download = generator.renamed(download(index), round: round)
        changed[index] = download
        return download
      }
      let shuffled = downloads.shuffled(using: &random)
      for (name, store) in turn(contenders, repetition) {
        var stopwatch = Stopwatch()
        try store.upsert(shuffled, &stopwatch)
        row.add(timeOf: stopwatch, in: 1e-6, for: shuffled.count, name)
        try check(store, name, indices)
      }
    }
    rows.append(row)
  }

  mutating func updateNewest() throws {
    let row = TableRow(
      "1,000 progress updates of the newest records, one durable commit",
      .milliseconds,
      [.faster(0.5, .best), .faster(5, .statements)]
    )
    try update(row) { $0.count - Self.batch..<$0.count }
  }

  mutating func updateRandom() throws {
    let row = TableRow(
      "1,000 progress updates at random, one durable commit",
      .milliseconds,
      [.faster(0.7, .best), .faster(2, .statements)]
    )
    try update(row) { $0.randomIndices(Self.batch) }
  }

  private mutating func update<Indices: Sequence<Int>>(
    _ emptyRow: TableRow,
    _ choose: (inout Self) -> Indices
  ) throws {
    var row = emptyRow
    for repetition in repetitions(15) {
      round += 1
      let indices = Array(choose(&self))
      let changes = indices.map { nextProgress(of: $0) }
      for (name, store) in turn(contenders, repetition) {
        var stopwatch = Stopwatch()
        try store.update(changes, &stopwatch)
        row.add(timeOf: stopwatch, in: 1e-3, name)
        try check(store, name, indices)
      }
    }
    rows.append(row)
  }

  mutating func commitOne() throws {
    var row = TableRow("one durable commit", .microseconds, [.atMost(1.1, .chosen)])
    for repetition in repetitions(100) {
      round += 1
      let index = Int.random(in: 0..<count, using: &random)
      let change = nextProgress(of: index)
      for (name, store) in turn(contenders, repetition) {
        var stopwatch = Stopwatch()
        try store.update([change], &stopwatch)
        row.add(timeOf: stopwatch, in: 1e-6, name)
        try check(store, name, [index])
      }
    }
    rows.append(row)
  }
}
