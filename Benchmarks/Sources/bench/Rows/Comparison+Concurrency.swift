import Dispatch
import Foundation
import Synchronization

extension Comparison {
  // MARK: A reader beside a writer

  /// Runs after all rows that expect particular records, because the number of writes varies.
  mutating func readBesideWriter() throws {
    var row = TableRow("reader beside a busy writer", .slowdown, [.atMost(1, .chosen)])
    for repetition in repetitions(3) {
      for (name, store) in turn(contenders, repetition) {
        let urls = randomIndices(100_000).map { generator.url($0) }
        let alone = try readsPerSecond(store, urls)
        round += 1
        let changes = (0..<20).map { _ in
          randomIndices(Self.batch).map { generator.progress($0, round: round) }
        }
        let beside = try beside(writer: store, of: changes, name) {
          try readsPerSecond(store, urls)
        }
        row.add(alone / beside, for: name)
      }
    }
    rows.append(row)
  }

  private func readsPerSecond(_ store: any Contender, _ urls: [String]) throws -> Double {
    var stopwatch = Stopwatch()
    var count = 0
    var start = 0
    while stopwatch.wall < .milliseconds(500) {
      let part = Array(urls[start..<min(start + 100, urls.count)])
      start = (start + 100) % urls.count
      count += part.count
      try expect(part.count, store.read(part, &stopwatch).count, "the reader")
    }
    return Double(count) / stopwatch.wall.inUnits(of: 1)
  }

  /// Runs `body` while another thread repeatedly makes the changes, each list in a durable commit.
  private func beside(
    writer store: any Contender,
    of changes: [[Progress]],
    _ name: String,
    _ body: () throws -> Double
  ) throws -> Double {
    let writer = BusyWriter()
    let thread = DispatchQueue(label: "bench.writer")
    thread.async { writer.run(store, changes) }
    while writer.commits.load(ordering: .relaxed) == 0, !writer.hasFailed {
      Thread.sleep(forTimeInterval: 0.001)
    }
    let result = Result { try body() }
    writer.isDone.store(true, ordering: .relaxed)
    thread.sync {}
    guard !writer.hasFailed else { throw Mismatch("\(name) has failed to write") }
    return try result.get()
  }
}

/// State shared by the writing and the reading thread.
private final class BusyWriter: Sendable {
  let isDone = Atomic(false)
  let commits = Atomic(0)
  private let failure = Atomic(false)

  var hasFailed: Bool { failure.load(ordering: .relaxed) }

  func run(_ store: any Contender, _ changes: [[Progress]]) {
    var next = 0
    while !isDone.load(ordering: .relaxed) {
      do {
        var stopwatch = Stopwatch()
        try store.update(changes[next % changes.count], &stopwatch)
      } catch {
        failure.store(true, ordering: .relaxed)
        return
      }
      next += 1
      commits.add(1, ordering: .relaxed)
    }
  }
}
