import TestSupport
import Testing

@testable import DownloadSync

@Suite struct SchedulerTests {
  typealias Candidate = Scheduler.Candidate

  private func candidate(
    _ name: String,
    host: String = "h",
    priority: Int32 = 0,
    order: Int = 0,
    isSuspect: Bool = false
  ) -> Candidate {
    Candidate(url: name, origin: host, priority: priority, order: order, isSuspect: isSuspect)
  }

  private func starts(
    _ scheduler: Scheduler,
    _ waiting: [Candidate],
    running: [Candidate] = []
  ) -> [String] {
    scheduler.starts(waiting: waiting, running: running).map(\.url)
  }

  @Test func `the first come goes first, the more important before it`() {
    let waiting = [
      candidate("late", order: 3), candidate("early", order: 1),
      candidate("important", priority: 1, order: 9), candidate("least", priority: -1, order: 0),
    ]
    let order = ["important", "early", "late", "least"]
    #expect(starts(Scheduler(), waiting) == order)
    #expect(starts(Scheduler(), waiting.reversed()) == order)
    #expect(starts(Scheduler(maximumRunning: 2), waiting) == ["important", "early"])
  }

  @Test func `what runs takes slots`() {
    let scheduler = Scheduler(maximumRunning: 3)
    let waiting = (0..<5).map { candidate("w\($0)", order: $0) }
    let running = (0..<5).map { candidate("r\($0)", order: $0) }
    #expect(starts(scheduler, waiting, running: Array(running.prefix(1))) == ["w0", "w1"])
    #expect(starts(scheduler, waiting, running: Array(running.prefix(3))) == [])
    // The limit was lowered: nobody is stopped, nobody starts.
    #expect(starts(scheduler, waiting, running: running) == [])
  }

  @Test func `a host that is busy lets others pass`() {
    let scheduler = Scheduler(maximumRunning: 4, maximumPerHost: 1)
    let waiting = [
      candidate("a1", host: "a", order: 0), candidate("a2", host: "a", order: 1),
      candidate("b1", host: "b", order: 2), candidate("c1", host: "c", order: 3),
    ]
    #expect(starts(scheduler, waiting) == ["a1", "b1", "c1"])
    #expect(starts(scheduler, waiting, running: [candidate("b0", host: "b")]) == ["a1", "c1"])
  }

  @Test func `nothing starts beside a suspect but what has shown progress goes on`() {
    let suspect = candidate("suspect", priority: -5, order: 9, isSuspect: true)
    let other = candidate("other", priority: 5, order: 1)
    #expect(starts(Scheduler(), [other, suspect]) == ["suspect"])
    #expect(starts(Scheduler(), [other, suspect], running: [candidate("r")]) == ["suspect"])
    #expect(starts(Scheduler(), [other], running: [suspect]) == [])
    #expect(starts(Scheduler(), [suspect], running: [suspect]) == [])
  }

  @Test func `of several suspects each has its turn`() {
    let suspects = (0..<3).map { candidate("s\($0)", order: $0, isSuspect: true) }
    #expect(starts(Scheduler(), suspects) == ["s0"])
    #expect(starts(Scheduler(), Array(suspects.dropFirst())) == ["s1"])
  }

  @Test func `nothing waits, nothing starts`() {
    #expect(starts(Scheduler(), []) == [])
  }

  @Test func `no limit is exceeded, no slot stays free, and no turn is lost`() {
    var random = SplitMix64(seed: 42)
    func some(_ count: Int, _ prefix: String, suspects: Bool) -> [Candidate] {
      (0..<count).map { number in
        candidate(
          "\(prefix)\(number)",
          host: "h\(Int.random(in: 0..<4, using: &random))",
          priority: Int32.random(in: -1...1, using: &random),
          order: number,
          isSuspect: suspects && Int.random(in: 0..<8, using: &random) == 0
        )
      }
      .shuffled(using: &random)
    }
    for round in 0..<5_000 {
      let scheduler = Scheduler(
        maximumRunning: Int.random(in: 1...6, using: &random),
        maximumPerHost: Int.random(in: 1...3, using: &random)
      )
      let hasSuspects = round % 2 == 0
      let waiting = some(Int.random(in: 0...12, using: &random), "w", suspects: hasSuspects)
      let running = some(Int.random(in: 0...7, using: &random), "r", suspects: hasSuspects)
      let starts = scheduler.starts(waiting: waiting, running: running)
      #expect(Set(starts).isSubset(of: waiting) && Set(starts).count == starts.count)

      let all = running + starts
      let perHost = Dictionary(grouping: all, by: \.origin).mapValues(\.count)
      if !starts.isEmpty {
        #expect(all.count <= scheduler.maximumRunning)
        for start in starts {
          #expect(perHost[start.origin, default: 0] <= scheduler.maximumPerHost)
        }
      }
      let suspects = all.filter(\.isSuspect)
      #expect(starts.isEmpty || suspects.isEmpty || starts.count == 1 && suspects.count == 1)

      let startable = waiting.filter { candidate in
        !starts.contains(candidate) && all.count < scheduler.maximumRunning
          && perHost[candidate.origin, default: 0] < scheduler.maximumPerHost
      }
      if running.contains(where: \.isSuspect) {
        #expect(starts.isEmpty)
      } else if suspects.isEmpty {
        #expect(startable.isEmpty)
      } else {
        #expect(starts.count == 1)
      }
      // Nobody overtakes one of the same host that could have gone as well.
      for start in starts {
        let overtaken = waiting.contains { other in
          other.origin == start.origin && !starts.contains(other)
            && other.isSuspect == start.isSuspect
            && (other.priority > start.priority
              || (other.priority == start.priority && other.order < start.order))
        }
        #expect(!overtaken)
      }
    }
  }
}
