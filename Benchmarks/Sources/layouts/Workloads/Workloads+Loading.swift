import Foundation

extension Workloads {
  mutating func load(repetitions: Int) throws {
    var row = Row("load in one durable transaction", "µs a record")
    for repetition in 0..<repetitions {
      contenders = []
      for entry in turn(repetition) {
        let contender = try entry.open(at: emptyFolder(entry.name))
        var stopwatch = Stopwatch()
        var next = 0
        try contender.load(&stopwatch) {
          defer { next += Self.batch }
          return next < count ? downloads(next..<min(next + Self.batch, count)) : nil
        }
        row.add(stopwatch.elapsed.inUnits(of: 1e-6) / Double(count), for: entry.name)
        contenders.append(contender)
      }
    }
    rows.append(row)
    for contender in contenders {
      try check(contender, (0..<100).map { $0 * (count / 100) }) { generator.download($0) }
    }
  }

  mutating func loadDurably(repetitions: Int) throws {
    let count = min(count, 100_000)
    var row = Row("load \(count), 1,000 a durable transaction", "µs a record")
    for repetition in 0..<repetitions {
      for entry in turn(repetition) {
        let name = "\(entry.name) durable"
        let contender = try entry.open(at: emptyFolder(name))
        var elapsed: Duration = .zero
        for start in stride(from: 0, to: count, by: Self.batch) {
          let chunk = downloads(start..<min(start + Self.batch, count))
          elapsed += try ContinuousClock().measure { try contender.add(chunk) }
        }
        row.add(elapsed.inUnits(of: 1e-6) / Double(count), for: entry.name)
        guard try contender.total().count == count else {
          throw Mismatch("\(entry.name) has lost records")
        }
        try FileManager.default.removeItem(at: folder.appending(path: name))
      }
    }
    rows.append(row)
  }

  /// New records, one after another, into the full store.
  mutating func addToFull(repetitions: Int) throws {
    var row = Row("add 1,000 to the full store, durable", "ms")
    for repetition in 0..<repetitions {
      let start = count + repetition * Self.batch
      let chunk = downloads(start..<start + Self.batch)
      for contender in turn(contenders, repetition) {
        let time = try ContinuousClock().measure { try contender.add(chunk) }
        row.add(time.inUnits(of: 1e-3), for: contender.name)
      }
      for index in start..<start + Self.batch { rounds[index] = 0 }
    }
    rows.append(row)
  }
}
