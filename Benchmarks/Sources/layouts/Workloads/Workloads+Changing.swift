extension Workloads {
  mutating func replace(repetitions: Int) throws {
    var row = Row("upsert existing, random, 10,000 a transaction", "µs a record")
    for repetition in 0..<repetitions {
      round += 1
      let indices = (0..<min(count, 10_000)).map { _ in Int.random(in: 0..<count, using: &random) }
      let downloads = indices.map { generator.renamed($0, round: round) }
      for contender in turn(contenders, repetition) {
        let time = try ContinuousClock().measure { try contender.replace(downloads) }
        row.add(time.inUnits(of: 1e-6) / Double(downloads.count), for: contender.name)
        try check(contender, Array(indices.prefix(100))) { generator.renamed($0, round: round) }
      }
      for index in indices { rounds[index] = round }
    }
    rows.append(row)
  }

  mutating func update(
    _ records: String,
    repetitions: Int,
    choose: (Int) -> Int
  ) throws {
    var times = Row("1,000 progress updates, \(records), durable", "ms")
    var works = Row("processor time of those, \(records)", "ms")
    var pages = Row("pages written by those, \(records)", "4 KiB pages")
    for repetition in 0..<repetitions {
      round += 1
      let indices = (0..<min(count, Self.batch)).map(choose)
      let changes = indices.map {
        (url: generator.url($0), progress: generator.progress($0, round: round))
      }
      for contender in turn(contenders, repetition) {
        let before = bytesWritten()
        var work: Duration = .zero
        let time = try ContinuousClock().measure {
          work = try processorTime { try contender.update(changes) }
        }
        times.add(time.inUnits(of: 1e-3), for: contender.name)
        works.add(work.inUnits(of: 1e-3), for: contender.name)
        if let before, let after = bytesWritten() {
          pages.add(Double(after - before) / 4_096, for: contender.name)
        }
        var expected = changes[...]
        try contender.forEach(changes.map(\.url)) { download in
          guard let change = expected.popFirst(), download.url == change.url,
            download.progress == change.progress
          else { throw Mismatch("\(contender.name) has not kept the progress of \(download.url)") }
        }
      }
      for index in indices { rounds[index] = round }
    }
    rows += [times, works, pages]
  }
}
