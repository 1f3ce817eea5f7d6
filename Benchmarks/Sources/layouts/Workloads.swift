import Foundation

/// Runs every workload, the contenders in turn inside each, and checks what they did.
struct Workloads {
  private static let batch = 1_000

  private let count: Int
  private let folder: URL
  private let generator = DownloadGenerator()
  private var random = SplitMix64(state: 42)
  private var round = 0
  /// The last round in which each record changed.
  private var rounds: [Int: Int] = [:]
  private var contenders: [any Contender] = []
  private(set) var rows: [Row] = []

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

  // MARK: Loading

  private mutating func load(repetitions: Int) throws {
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

  private mutating func loadDurably(repetitions: Int) throws {
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
  private mutating func addToFull(repetitions: Int) throws {
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

  // MARK: Reading

  private mutating func look(repetitions: Int) throws {
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
  private func warm() throws {
    let chunk = 10_000
    for start in stride(from: 0, to: count, by: chunk) {
      let urls = stride(from: start, to: min(start + chunk, count), by: 2).map { generator.url($0) }
      for contender in contenders { try contender.forEach(urls) { _ in } }
    }
  }

  private mutating func scan(repetitions: Int) throws {
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

  private mutating func measureFiles() throws {
    var row = Row("file after the load", "MB")
    for contender in contenders {
      let file = folder.appending(path: contender.name).appending(path: "data.mdb")
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      let size = (attributes[.size] as? NSNumber)?.doubleValue ?? 0
      row.add(size / 1e6, for: contender.name)
    }
    rows.append(row)
  }

  // MARK: Changing

  private mutating func replace(repetitions: Int) throws {
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

  private mutating func update(
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

  /// What this process has handed to the system for writing; `nil` where the system does not say.
  private func bytesWritten() -> Int? {
    let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("wchar:") }
    return line.flatMap { Int($0.dropFirst("wchar: ".count)) }
  }

  /// The time that `body` has a processor: what does not wait is measured best so beside others.
  private func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
      var time = timespec()
      unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try body()
    return now() - start
  }

  // MARK: Checking

  private var expectedTotal: Total {
    var total = Total()
    for index in 0..<count { total.add(generator.progress(index, round: 0).received) }
    for (index, round) in rounds {
      total.received += generator.progress(index, round: round).received
      if index < count { total.received -= generator.progress(index, round: 0).received }
      if index >= count { total.count += 1 }
    }
    return total
  }

  private func checkTotals() throws {
    for contender in contenders {
      let total = try contender.total()
      guard total == expectedTotal else {
        throw Mismatch("\(contender.name) has \(total), not \(expectedTotal)")
      }
    }
  }

  private func check(
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

  // MARK: Turns

  private func downloads(_ range: Range<Int>) -> [Download] {
    range.map { generator.download($0) }
  }

  private func turn(_ repetition: Int) -> [Entry] { turn(Entry.all, repetition) }

  /// All of them, beginning with another one in each repetition.
  private func turn<Element>(_ all: [Element], _ repetition: Int) -> [Element] {
    let first = repetition % max(all.count, 1)
    return Array(all[first...] + all[..<first])
  }

  private func emptyFolder(_ name: String) throws -> String {
    let store = folder.appending(path: name)
    try? FileManager.default.removeItem(at: store)
    try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
    return store.path
  }
}
