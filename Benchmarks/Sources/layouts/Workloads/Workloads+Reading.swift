import Foundation

extension Workloads {
  mutating func look(repetitions: Int) throws {
    var integers = Row("look up one integer by URL", "ns")
    var copies = Row("look up the whole record, bytes", "ns")
    var values = Row("look up the whole record, as a value", "ns")
    let lookups = min(count, 30_000)
    try warm()
    for repetition in 0..<repetitions {
      let indices = (0..<lookups).map { _ in Int.random(in: 0..<count, using: &random) }
      let urls = indices.map { generator.url($0) }
      let expected = indices.reduce(0 as Int64) { $0 + generator.progress($1, round: 0).received }
      for contender in turn(contenders, repetition) {
        func time(_ row: inout Row, _ body: () throws -> Bool) rethrows {
          var isTimed = true
          let time = try processorTime { isTimed = try body() }
          if isTimed { row.add(time.inUnits(of: 1e-9) / Double(lookups), for: contender.name) }
        }
        try time(&integers) {
          guard try contender.received(of: urls) == expected else {
            throw Mismatch("\(contender.name) has read other bytes")
          }
          return true
        }
        try time(&copies) { try contender.copy(urls) != nil }
        try time(&values) {
          var sum: Int64 = 0
          try contender.forEach(urls) { sum += $0.progress.received }
          guard sum == expected else { throw Mismatch("\(contender.name) has read other records") }
          return true
        }
      }
    }
    rows += [integers, copies, values]
  }

  /// Brings the files into memory and into the map, all of them as far.
  func warm() throws {
    let chunk = 10_000
    for start in stride(from: 0, to: count, by: chunk) {
      let urls = stride(from: start, to: min(start + chunk, count), by: 2).map { generator.url($0) }
      for contender in contenders { try contender.forEach(urls) { _ in } }
    }
  }

  mutating func scan(repetitions: Int) throws {
    var row = Row("scan, one hot integer", "ms")
    for repetition in -1..<repetitions {
      for contender in turn(contenders, repetition + 1) {
        var total = Total()
        let time = try processorTime { total = try contender.total() }
        guard total == expectedTotal else { throw Mismatch("\(contender.name) found \(total)") }
        if repetition >= 0 { row.add(time.inUnits(of: 1e-3), for: contender.name) }
      }
    }
    rows.append(row)
  }

  mutating func measureFiles() throws {
    var row = Row("file after the load", "MB")
    for contender in contenders {
      let file = folder.appending(path: contender.name).appending(path: "data.mdb")
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      let size = (attributes[.size] as? NSNumber)?.doubleValue ?? 0
      row.add(size / 1e6, for: contender.name)
    }
    rows.append(row)
  }
}
