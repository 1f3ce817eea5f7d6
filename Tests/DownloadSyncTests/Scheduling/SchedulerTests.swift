import Foundation
import TestSupport
import TestTraits
import Testing

@testable import DownloadSync

@Suite struct SchedulerTests {
  typealias Candidate = Scheduler.Candidate

  func candidate(
    _ name: String,
    host: String = "h",
    priority: Int32 = 0,
    order: Int = 0,
    isSuspect: Bool = false,
    startsImmediately: Bool = false,
    volume: UInt64 = 0
  ) -> Candidate {
    Candidate(
      url: name,
      origin: host,
      priority: priority,
      order: order,
      isSuspect: isSuspect,
      startsImmediately: startsImmediately,
      volume: volume
    )
  }

  func running(_ candidates: [Candidate]) -> [Scheduler.Running] {
    candidates.map { Scheduler.Running(candidate: $0, started: $0.order) }
  }

  func queue(_ waiting: [Candidate]) -> ReadyQueue {
    var queue = ReadyQueue()
    for candidate in waiting { queue.insert(candidate) }
    return queue
  }

  /// Returns all steps until there is no further one.
  func steps(
    _ limits: ConcurrencyLimits,
    _ queue: inout ReadyQueue,
    running: [Scheduler.Running] = []
  ) -> [Scheduler.Step] {
    var running = running
    var steps: [Scheduler.Step] = []
    while let step = Scheduler(limits: limits).next(&queue, running: running) {
      steps.append(step)
      switch step {
      case .start(let candidate):
        running.append(Scheduler.Running(candidate: candidate, started: 1_000 + steps.count))
      case .preempt(let url), .suspend(let url):
        let index = running.firstIndex { $0.candidate.url == url }
        running[index ?? 0].isEnding = true
      case .endConnection(let url, _):
        let index = running.firstIndex { $0.candidate.url == url }
        running[index ?? 0].endingConnectionCount += 1
      case .awaitConnection:
        return steps
      }
    }
    return steps
  }

  func starts(
    _ limits: ConcurrencyLimits,
    _ waiting: [Candidate],
    running: [Candidate] = []
  ) -> [String] {
    var queue = queue(waiting)
    return steps(limits, &queue, running: self.running(running)).map {
      switch $0 {
      case .start(let candidate): candidate.url
      case .preempt(let url): "room by \(url)"
      case .suspend(let url): "suspend \(url)"
      case .endConnection(let url, _): "connection of \(url)"
      case .awaitConnection: "wait"
      }
    }
  }

  // MARK: Order

  @Test(.requirements("ZY59")) func `downloads start by priority, then in order of arrival`() {
    let waiting = [
      candidate("late", order: 3), candidate("early", order: 1),
      candidate("important", priority: 1, order: 9), candidate("least", priority: -1, order: 0),
    ]
    let order = ["important", "early", "late", "least"]
    #expect(starts(ConcurrencyLimits(), waiting) == order)
    #expect(starts(ConcurrencyLimits(), waiting.reversed()) == order)
    #expect(starts(ConcurrencyLimits(maximumRunning: 2), waiting) == ["important", "early"])
  }

  @Test func `running downloads occupy slots`() {
    let limits = ConcurrencyLimits(maximumRunning: 3)
    let waiting = (0..<5).map { candidate("w\($0)", order: $0) }
    let running = (0..<5).map { candidate("r\($0)", order: $0) }
    #expect(starts(limits, waiting, running: Array(running.prefix(1))) == ["w0", "w1"])
    #expect(starts(limits, waiting, running: Array(running.prefix(3))) == [])
    // The limit was lowered: nothing is stopped and nothing starts.
    #expect(starts(limits, waiting, running: running) == [])
  }

  @Test func `a busy host does not block other hosts`() {
    let limits = ConcurrencyLimits(maximumRunning: 4, maximumPerHost: 1)
    let waiting = [
      candidate("a1", host: "a", order: 0), candidate("a2", host: "a", order: 1),
      candidate("b1", host: "b", order: 2), candidate("c1", host: "c", order: 3),
    ]
    #expect(starts(limits, waiting) == ["a1", "b1", "c1"])
    #expect(starts(limits, waiting, running: [candidate("b0", host: "b")]) == ["a1", "c1"])
  }

  // MARK: Slow downloads

  @Test func `a slow download gives its slot to one that waits, and to one only`() {
    let limits = ConcurrencyLimits(maximumRunning: 2, maximumPerHost: 2)
    let candidates = [candidate("s1", order: 1), candidate("s2", order: 2)]
    var running = running(candidates)
    func next(_ waiting: Candidate...) -> Scheduler.Step? {
      var queue = queue(waiting)
      return Scheduler(limits: limits).next(&queue, running: running)
    }
    let new = candidate("new", order: 3)
    #expect(next(new) == nil)
    running[1].isSlow = true
    #expect(next() == nil, "nothing waits")
    #expect(next(new) == .suspend(url: "s2"))
    running[0].isSlow = true
    #expect(next(new) == .suspend(url: "s1"), "the one that has run longest")
    #expect(next(candidate("less", priority: -9, order: 3)) == .suspend(url: "s1"))
    running[0].isEnding = true
    #expect(next(new) == nil, "a slot is about to become free")
    running[0].isEnding = false
    // Slow downloads do not take turns.
    var slow = candidate("slow", order: 0)
    slow.wasSlow = true
    #expect(next(slow) == nil)
    running.removeLast()
    #expect(next(slow) == .start(slow))
    #expect(next(slow, candidate("less", priority: -9)) == .start(candidate("less", priority: -9)))
  }

  @Test func `a slow download of a full host gives its slot to one of that host`() {
    let limits = ConcurrencyLimits(maximumRunning: 9, maximumPerHost: 1)
    var running = running([candidate("a", host: "a"), candidate("b", host: "b")])
    for index in running.indices { running[index].isSlow = true }
    var queue = queue([candidate("new", host: "b", order: 5)])
    #expect(Scheduler(limits: limits).next(&queue, running: running) == .suspend(url: "b"))
  }

  // MARK: Crash suspects

  @Test func `a crash suspect starts alone, and proven transfers continue`() {
    let suspect = candidate("suspect", priority: -5, order: 9, isSuspect: true)
    let other = candidate("other", priority: 5, order: 1)
    #expect(starts(ConcurrencyLimits(), [other, suspect]) == ["suspect"])
    #expect(
      starts(ConcurrencyLimits(), [other, suspect], running: [candidate("r")]) == ["suspect"]
    )
    #expect(starts(ConcurrencyLimits(), [other], running: [suspect]) == [])
    #expect(
      starts(ConcurrencyLimits(), [candidate("s2", isSuspect: true)], running: [suspect]) == []
    )
  }

  @Test func `a suspect that runs alone lets the others wait, also without a free slot`() {
    var suspect = candidate("suspect", order: 9, isSuspect: true)
    suspect.runsAlone = true
    let others = [candidate("b", order: 2), candidate("a", order: 1)]
    for limit in [1, 2, 9] {
      var queue = queue([suspect, candidate("w")])
      var running = running(others)
      let limits = ConcurrencyLimits(maximumRunning: limit)
      func next() -> Scheduler.Step? { Scheduler(limits: limits).next(&queue, running: running) }
      #expect(next() == .suspend(url: "a"))
      running[1].isEnding = true
      #expect(next() == .suspend(url: "b"))
      running[0].isEnding = true
      #expect(next() == .awaitConnection)
      running.removeAll()
      #expect(next() == .start(suspect))
      running = self.running([suspect])
      #expect(next() == nil)
    }
  }

  @Test func `crash suspects start one after another`() {
    let suspects = (0..<3).map { candidate("s\($0)", order: $0, isSuspect: true) }
    #expect(starts(ConcurrencyLimits(), suspects) == ["s0"])
    #expect(starts(ConcurrencyLimits(), Array(suspects.dropFirst())) == ["s1"])
  }

  @Test func `an empty queue starts nothing`() {
    #expect(starts(ConcurrencyLimits(), []) == [])
  }

  // MARK: Immediate starts

  @Test func `an immediate start goes first and preempts the longest-running download`() {
    let limits = ConcurrencyLimits(maximumRunning: 2)
    let now = candidate("now", priority: -9, order: 50, startsImmediately: true)
    let waiting = [candidate("w", priority: 9, order: 3), now]
    let old = [candidate("r1", order: 2), candidate("r0", order: 1)]
    #expect(starts(limits, waiting) == ["now", "w"])
    #expect(starts(limits, waiting, running: [old[0]]) == ["now"])
    #expect(starts(limits, waiting, running: old) == ["room by r0"])
  }

  @Test func `a transfer that is ending counts as the preempted one`() {
    let limits = ConcurrencyLimits(maximumRunning: 2)
    var queue = queue([candidate("now", order: 50, startsImmediately: true)])
    var old = running([candidate("r0", order: 1), candidate("r1", order: 2)])
    old[1].isEnding = true
    #expect(steps(limits, &queue, running: old) == [])
    #expect(steps(limits, &queue, running: [old[0]]).count == 1)
  }

  @Test func `if the host is full, a download of that host is preempted`() {
    let limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 1)
    let now = candidate("now", host: "b", order: 50, startsImmediately: true)
    let old = [candidate("a0", host: "a", order: 1), candidate("b0", host: "b", order: 2)]
    #expect(starts(limits, [now], running: old) == ["room by b0"])
  }

  @Test func `simultaneous immediate starts do not preempt each other`() {
    let limits = ConcurrencyLimits(maximumRunning: 2)
    var queue = queue((0..<5).map { candidate("n\($0)", order: 50 + $0, startsImmediately: true) })
    var live = running([candidate("r0", order: 1), candidate("r1", order: 2)])
    var log: [String] = []
    for started in 60..<70 {
      for step in steps(limits, &queue, running: live) {
        switch step {
        case .preempt(let url):
          log.append("- \(url)")
          live.removeAll { $0.candidate.url == url }
        case .start(let candidate):
          log.append("+ \(candidate.url)")
          live.append(Scheduler.Running(candidate: candidate, started: started))
        case .endConnection, .awaitConnection, .suspend:
          Issue.record("a download with one connection has none to give away, and none is slow")
        }
      }
    }
    #expect(log == ["- r0", "+ n0", "- r1", "+ n1"])
    // The next slot goes to the next of them.
    live.removeFirst()
    let next = candidate("n2", order: 52, startsImmediately: true)
    #expect(Scheduler(limits: limits).next(&queue, running: live) == .start(next))
  }

  @Test func `a later immediate start preempts an earlier one`() {
    let first = candidate("first", order: 50, startsImmediately: true)
    var queue = queue([candidate("second", order: 60, startsImmediately: true)])
    let live = [Scheduler.Running(candidate: first, started: 55)]
    let limits = ConcurrencyLimits(maximumRunning: 1)
    #expect(Scheduler(limits: limits).next(&queue, running: live) == .preempt(url: "first"))
  }

  // MARK: Connections

  /// A running download with some connections.
  func running(
    _ name: String,
    host: String = "h",
    connections: Int,
    mirrors: [String: Int] = [:],
    ending: Int = 0,
    started: Int = 0
  ) -> Scheduler.Running {
    Scheduler.Running(
      candidate: candidate(name, host: host),
      started: started,
      connectionCount: connections,
      mirrorConnections: mirrors,
      endingConnectionCount: ending
    )
  }

  func step(
    _ limits: ConcurrencyLimits,
    _ waiting: Candidate,
    _ running: Scheduler.Running...
  ) -> Scheduler.Step? {
    var queue = queue([waiting])
    let step = Scheduler(limits: limits).next(&queue, running: running)
    let hasStarted = step == .start(waiting)
    #expect(queue.count == (hasStarted ? 0 : 1))
    return step
  }

  @Test(arguments: [false, true])
  func `a waiting download gets a connection of the download that has most`(isSuspect: Bool) {
    let new = candidate("new", isSuspect: isSuspect)
    let limits = ConcurrencyLimits(maximumRunning: 6, maximumPerHost: 6)
    let (two, three) = (running("two", connections: 2), running("three", connections: 3))
    #expect(step(limits, new, two, three) == .start(new))
    let four = running("four", connections: 4)
    #expect(step(limits, new, two, four) == .endConnection(url: "four", origin: new.origin))
    let ending = running("four", connections: 4, ending: 1)
    #expect(step(limits, new, two, ending) == .awaitConnection)
    let early = running("early", connections: 3, started: 1)
    let late = running("late", connections: 3, started: 2)
    #expect(step(limits, new, early, late) == .endConnection(url: "late", origin: new.origin))
  }

  @Test func `a full host gives a connection to that host away`() {
    let new = candidate("new")
    let limits = ConcurrencyLimits(maximumRunning: 9, maximumPerHost: 3)
    let other = running("other", host: "x", connections: 4)
    let same = running("same", connections: 3)
    #expect(step(limits, new, other, same) == .endConnection(url: "same", origin: new.origin))
    let elsewhere = candidate("y", host: "y")
    #expect(step(limits, elsewhere, other, same) == .start(elsewhere))
  }

  @Test func `a waiting download gets the connection that another one has to its host as a mirror`()
  {
    let new = candidate("new")
    let limits = ConcurrencyLimits(maximumRunning: 9, maximumPerHost: 3)
    let own = running("own", connections: 1)
    let mirrored = running("mirrored", host: "x", connections: 3, mirrors: [new.origin: 2])
    #expect(step(limits, new, own, mirrored) == .endConnection(url: "mirrored", origin: new.origin))
    let less = running("mirrored", host: "x", connections: 2, mirrors: [new.origin: 1])
    #expect(step(limits, new, own, less) == .start(new))
    let elsewhere = candidate("x", host: "x")
    #expect(step(limits, elsewhere, own, mirrored) == .start(elsewhere))
  }

  @Test func `a download waits for a transfer that ends, rather than for another connection`() {
    let limits = ConcurrencyLimits(maximumRunning: 4, maximumPerHost: 4)
    var ending = running("ending", connections: 2)
    ending.isEnding = true
    let wide = running("wide", connections: 2)
    #expect(step(limits, candidate("new"), ending, wide) == .awaitConnection)
  }

  @Test func `a download that has no free slot takes no connection`() {
    let limits = ConcurrencyLimits(maximumRunning: 1, maximumPerHost: 4)
    #expect(step(limits, candidate("new"), running("wide", connections: 1)) == nil)
  }

  @Test func `nothing is preempted while a crash suspect runs`() {
    var queue = queue([candidate("now", order: 50, startsImmediately: true)])
    let live = running([candidate("s", isSuspect: true), candidate("r")])
    #expect(
      Scheduler(limits: ConcurrencyLimits(maximumRunning: 2)).next(&queue, running: live) == nil
    )
  }
}
