extension Workloads {
  var expectedTotal: Total {
    var total = Total()
    for index in 0..<count { total.add(generator.progress(index, round: 0).received) }
    for (index, round) in rounds {
      total.received += generator.progress(index, round: round).received
      if index < count { total.received -= generator.progress(index, round: 0).received }
      if index >= count { total.count += 1 }
    }
    return total
  }

  func checkTotals() throws {
    for contender in contenders {
      let total = try contender.total()
      guard total == expectedTotal else {
        throw Mismatch("\(contender.name) has \(total), not \(expectedTotal)")
      }
    }
  }

  func check(
    _ contender: any Contender,
    _ indices: [Int],
    _ expected: (Int) -> Download
  ) throws {
    var remaining = indices[...]
    try contender.forEach(indices.map { generator.url($0) }) { download in
      guard let index = remaining.popFirst(), download == expected(index) else {
        throw Mismatch("\(contender.name) has not kept \(download.url) as it was")
      }
    }
    guard remaining.isEmpty else { throw Mismatch("\(contender.name) has lost records") }
  }
}
