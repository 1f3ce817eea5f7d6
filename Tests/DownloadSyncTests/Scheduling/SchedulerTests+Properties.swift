import Foundation
import TestSupport
import TestTraits
import Testing

@testable import DownloadSync

// Properties of random queues.

extension SchedulerTests {
  // MARK: Properties

  /// The same order by sorting all candidates: simple enough to be obviously correct.
  private func reference(
    _ limits: ConcurrencyLimits,
    _ waiting: [Candidate],
    running: [Candidate]
  ) -> [String] {
    guard running.count < limits.maximumRunning, !running.contains(where: \.isSuspect) else {
      return []
    }
    let ordered = waiting.sorted { left, right in
      if left.isSuspect != right.isSuspect { return left.isSuspect }
      if left.startsImmediately != right.startsImmediately { return left.startsImmediately }
      if left.priority != right.priority { return left.priority > right.priority }
      return left.order < right.order
    }
    var all = running
    func hasRoom(_ candidate: Candidate) -> Bool {
      all.count < limits.maximumRunning
        && all.count { $0.origin == candidate.origin } < limits.maximumPerHost
    }
    if let suspect = ordered.first(where: { $0.isSuspect && hasRoom($0) }) { return [suspect.url] }
    for candidate in ordered where !candidate.isSuspect && hasRoom(candidate) {
      all.append(candidate)
    }
    return all.dropFirst(running.count).map(\.url)
  }

  func some(
    _ count: Int,
    _ prefix: String,
    _ random: inout SplitMix64,
    suspects: Bool = false,
    immediately: Bool = false
  ) -> [Candidate] {
    (0..<count).map { number in
      candidate(
        "\(prefix)\(number)",
        host: "h\(Int.random(in: 0..<4, using: &random))",
        priority: Int32.random(in: -1...1, using: &random),
        order: number,
        isSuspect: suspects && Int.random(in: 0..<8, using: &random) == 0,
        startsImmediately: immediately && Int.random(in: 0..<6, using: &random) == 0,
        volume: UInt64.random(in: 0..<3, using: &random)
      )
    }
    .shuffled(using: &random)
  }

  @Test func `the queue starts downloads in sorted order whatever was inserted and removed`() {
    var random = SplitMix64(seed: 42)
    for round in 0..<3_000 {
      let limits = ConcurrencyLimits(
        maximumRunning: Int.random(in: 1...6, using: &random),
        maximumPerHost: Int.random(in: 1...3, using: &random)
      )
      let count = Int.random(in: 0...14, using: &random)
      var waiting = some(count, "w", &random, suspects: round % 2 == 0, immediately: round % 3 == 0)
      let running = some(
        Int.random(in: 0...7, using: &random),
        "r",
        &random,
        suspects: round % 4 == 0
      )
      var queue = queue(waiting)
      // Some are removed, some are inserted again at another position, some volumes fill up and
      // empty.
      for index in waiting.indices.reversed() {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
          queue.remove(waiting[index].url)
          waiting.remove(at: index)
        case 1:
          waiting[index].priority = Int32.random(in: -2...2, using: &random)
          queue.insert(waiting[index])
        case 2:
          queue.block(volume: waiting[index].volume)
          let full = self.running(some(1, "x", &random))
          _ = Scheduler(limits: ConcurrencyLimits(maximumRunning: 1)).next(&queue, running: full)
          queue.unblock(volume: waiting[index].volume)
        default: break
        }
      }
      #expect(queue.count == waiting.count)
      let started = steps(limits, &queue, running: self.running(running)).compactMap {
        if case .start(let candidate) = $0 { candidate.url } else { nil }
      }
      #expect(started == reference(limits, waiting, running: running))
      #expect(queue.count == waiting.count - started.count)
    }
  }

  @Test(.requirements("ZY63")) func `no slot stays free while an eligible download waits`() {
    var random = SplitMix64(seed: 7)
    for _ in 0..<100 {
      var limits = ConcurrencyLimits(maximumRunning: 3, maximumPerHost: 2)
      var queue = ReadyQueue()
      var live: [Scheduler.Running] = []
      var waiting: [String: Candidate] = [:]
      var held: Set<UInt64> = []
      for moment in 0..<200 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
          var new = some(1, "w", &random, immediately: true)[0]
          new.url = "w\(moment)"
          new.order = moment
          queue.insert(new)
          waiting[new.url] = new
        case 3:
          if let url = waiting.keys.sorted().randomElement(using: &random) {
            queue.remove(url)
            waiting[url] = nil
          }
        case 4:
          limits.maximumRunning = Int.random(in: 1...4, using: &random)
        case 5:
          let volume = UInt64.random(in: 0..<3, using: &random)
          if held.remove(volume) == nil {
            held.insert(volume)
            queue.block(volume: volume)
          } else {
            queue.unblock(volume: volume)
          }
        case 6 where !live.isEmpty:
          live[Int.random(in: live.indices, using: &random)].isSlow.toggle()
        default:
          if !live.isEmpty { live.remove(at: Int.random(in: live.indices, using: &random)) }
        }
        while let step = Scheduler(limits: limits).next(&queue, running: live) {
          switch step {
          case .start(let candidate):
            #expect(waiting.removeValue(forKey: candidate.url) != nil)
            #expect(live.count < limits.maximumRunning)
            #expect(!held.contains(candidate.volume))
            live.append(Scheduler.Running(candidate: candidate, started: moment))
          case .preempt(let url), .suspend(let url):
            let index = live.firstIndex { $0.candidate.url == url } ?? 0
            #expect(live[index].candidate.url == url && !live[index].isEnding)
            if case .suspend = step { #expect(live[index].isSlow) }
            live[index].isEnding = true
          case .endConnection, .awaitConnection:
            Issue.record("a download with one connection has none to give away")
          }
        }
        let mayStart = waiting.values.filter { candidate in
          !held.contains(candidate.volume) && live.count < limits.maximumRunning
            && live.count { $0.candidate.origin == candidate.origin } < limits.maximumPerHost
        }
        #expect(mayStart.isEmpty)
        #expect(queue.count == waiting.count)
      }
    }
  }
}
