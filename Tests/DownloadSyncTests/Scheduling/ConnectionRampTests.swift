import Testing

@testable import DownloadSync

@Suite struct ConnectionRampTests {
  private let begin = ContinuousClock.now

  /// Notes a second at each rate, and returns the target after each.
  private func targets(_ ramp: inout ConnectionRamp, rates: [Int64]) -> [Int] {
    var (byteCount, second) = (0 as Int64, 0)
    return rates.map { rate in
      ramp.note(byteCount, running: ramp.target, at: begin.advanced(by: .seconds(second)))
      (byteCount, second) = (byteCount + rate, second + 1)
      ramp.note(byteCount, running: ramp.target, at: begin.advanced(by: .seconds(second)))
      return ramp.target
    }
  }

  @Test func `four follow one, and double while the total rate grows, up to the maximum`() {
    var ramp = ConnectionRamp(maximum: 12, measuringTime: .seconds(1))
    #expect(targets(&ramp, rates: [100, 400, 800, 1_200, 1_200]) == [4, 8, 12, 12, 12])
    var narrow = ConnectionRamp(maximum: 3, measuringTime: .seconds(1))
    #expect(targets(&narrow, rates: [100, 300, 300]) == [3, 3, 3])
  }

  @Test func `a doubling that raises the rate by a tenth or less is taken back`() {
    var ramp = ConnectionRamp(maximum: 8, measuringTime: .seconds(1))
    let rates: [Int64] = [100, 200, 220, 220, 210, 220, 199, 220, 220, 900]
    #expect(targets(&ramp, rates: rates) == [4, 8, 8, 8, 8, 8, 8, 8, 4, 4])
  }

  @Test func `the last doubling is taken back, too`() {
    var ramp = ConnectionRamp(maximum: 2, measuringTime: .seconds(1))
    let rates = [Int64](repeating: 100, count: 9)
    #expect(targets(&ramp, rates: rates) == [2, 2, 2, 2, 2, 2, 2, 1, 1])
  }

  @Test func `a server that sends in bursts gets more connections`() {
    var ramp = ConnectionRamp(maximum: 8, measuringTime: .seconds(1))
    #expect(targets(&ramp, rates: [200, 0, 400, 0, 0, 800]) == [4, 4, 8, 8, 8, 8])
  }

  /// Downloads for 20 seconds from a server, and returns the targets in order.
  ///
  /// `count` is the number of bytes that a connection has received at a time in seconds, if it started
  /// at another time and the server sends to that number of connections.
  private func targets(
    of ramp: ConnectionRamp,
    every interval: Double,
    _ count: (_ start: Double, _ now: Double, _ connections: Int) -> Double
  ) -> [Int] {
    var ramp = ramp
    var starts = [0.0]
    var byteCounts = [0.0]
    var targets = [ramp.target]
    for tick in 1...Int(20 / interval) {
      let now = Double(tick) * interval
      for (index, start) in starts.enumerated() where start < now {
        byteCounts[index] +=
          count(start, now, starts.count) - count(start, max(start, now - interval), starts.count)
      }
      ramp.note(
        Int64(byteCounts.reduce(0, +)),
        running: starts.count { $0 < now },
        at: begin.advanced(by: .seconds(now))
      )
      if ramp.target != targets.last { targets.append(ramp.target) }
      while starts.count < ramp.target {
        // The connections do not begin at the same time.
        starts.append(now + Double(starts.count) * 0.03)
        byteCounts.append(0)
      }
      while starts.count > ramp.target {
        starts.removeLast()
        byteCounts[0] += byteCounts.removeLast()
      }
    }
    return targets
  }

  @Test(arguments: [0.1, 0.2])
  func `a step that a first burst made seem useless is taken again`(interval: Double) {
    let ramp = ConnectionRamp(maximum: 8, measuringTime: .milliseconds(100))
    // 40 MB in the first moment, and 2 MB per second to each connection.
    let targets = targets(of: ramp, every: interval) { start, now, _ in
      let burst = start == 0 ? 40_000_000 * min(1, now / (interval * 2)) : 0
      return burst + 2_000_000 * max(0, now - start)
    }
    #expect(targets == [1, 4, 1, 8])
  }

  @Test(arguments: [0.1, 0.2])
  func `a server that sends once per second to each connection gets all of them`(
    interval: Double
  ) {
    let ramp = ConnectionRamp(maximum: 8, measuringTime: .milliseconds(100))
    let targets = targets(of: ramp, every: interval) { start, now, _ in
      let time = max(0, now - start)
      let burst = min(1, (time - time.rounded(.down)) / 0.05)
      return 2_000_000 * (time.rounded(.down) + burst)
    }
    #expect(targets.last == 8)
  }

  @Test(arguments: [0.1, 0.2])
  func `a server with a limit for all connections gets one`(interval: Double) {
    let ramp = ConnectionRamp(maximum: 8, measuringTime: .milliseconds(100))
    let targets = targets(of: ramp, every: interval) { start, now, connections in
      16_000_000 * max(0, now - start) / Double(connections)
    }
    #expect(targets == [1, 4, 1])
  }

  /// Returns a ramp of one second whose step from one connection to four was taken back.
  ///
  /// One connection had a rate of 900 in its first second, and four had 400.
  private func reviewingRamp(rateLimit: Int64? = nil) -> ConnectionRamp {
    var ramp = ConnectionRamp(maximum: 8, measuringTime: .seconds(1), rateLimit: rateLimit)
    let rates = [900] + [Int64](repeating: 400, count: 7)
    #expect(targets(&ramp, rates: rates).suffix(2) == [4, 1])
    return ramp
  }

  @Test func `a step that was taken back is taken again if the fewer connections are slower`() {
    var ramp = reviewingRamp()
    #expect(targets(&ramp, rates: [100, 100, 100, 100, 100, 100, 100]).suffix(2) == [1, 8])
    #expect(targets(&ramp, rates: [800]) == [8])
  }

  @Test func `a step that was taken back stays so if the fewer connections are as fast`() {
    var ramp = reviewingRamp()
    let rates = [Int64](repeating: 380, count: 7) + [9_000, 90_000]
    #expect(targets(&ramp, rates: rates) == [1, 1, 1, 1, 1, 1, 1, 1, 1])
  }

  @Test func `a single connection with the limiting rate stays alone after a review, too`() {
    var ramp = reviewingRamp(rateLimit: 1_000)
    #expect(targets(&ramp, rates: [Int64](repeating: 300, count: 7)).last == 8)
    var fast = ConnectionRamp(maximum: 8, measuringTime: .seconds(1), rateLimit: 200)
    _ = targets(&fast, rates: [199] + [Int64](repeating: 215, count: 7))
    #expect(fast.target == 1)
    #expect(targets(&fast, rates: [Int64](repeating: 201, count: 9)).last == 1)
  }

  @Test func `the fewer connections are not measured while more are running`() {
    var ramp = reviewingRamp()
    for second in 20...40 {
      ramp.note(100 * Int64(second), running: 2, at: begin.advanced(by: .seconds(second)))
    }
    #expect(ramp.target == 1)
  }

  @Test func `a refusal during a review leaves as many connections as are running`() {
    var ramp = reviewingRamp()
    ramp.noteRefusal(running: 2)
    #expect(targets(&ramp, rates: [Int64](repeating: 100, count: 9)).last == 2)
  }

  @Test func `a new limit ends a review`() {
    var ramp = reviewingRamp()
    ramp.limit(to: 2)
    #expect(targets(&ramp, rates: [100]) == [2])
  }

  @Test func `a limit that stays the same changes nothing`() {
    var ramp = ConnectionRamp(maximum: 8, measuringTime: .seconds(1))
    _ = targets(&ramp, rates: [100, 400])
    let before = ramp
    ramp.limit(to: 8)
    #expect(ramp == before)
  }

  @Test func `a new limit is measured again`() {
    var ramp = ConnectionRamp(maximum: 4, measuringTime: .seconds(1))
    _ = targets(&ramp, rates: [100, 200, 400])
    ramp.limit(to: 2)
    #expect(ramp.target == 2)
    ramp.limit(to: 8)
    #expect(targets(&ramp, rates: [200, 400, 800]) == [4, 8, 8])
  }

  @Test func `one connection stays alone`() {
    var ramp = ConnectionRamp(maximum: 1, measuringTime: .zero)
    #expect(targets(&ramp, rates: [100, 200]) == [1, 1])
  }

  @Test(arguments: [(0, 1), (1, 1), (3, 3), (9, 4)])
  func `a download with gaps starts with a connection for each, up to the maximum`(
    gaps: Int,
    target: Int
  ) {
    #expect(ConnectionRamp(maximum: 4, gaps: gaps, measuringTime: .seconds(1)).target == target)
    #expect(ConnectionRamp(maximum: 1, gaps: gaps, measuringTime: .seconds(1)).target == 1)
  }

  @Test func `a connection with the limiting rate stays alone, but not after a burst`() {
    var ramp = ConnectionRamp(maximum: 4, measuringTime: .seconds(1), rateLimit: 100)
    func target(_ byteCount: Int64, at second: Int) -> Int {
      ramp.note(byteCount, running: ramp.target, at: begin.advanced(by: .seconds(second)))
      return ramp.target
    }
    #expect([target(0, at: 0), target(250, at: 1), target(300, at: 2)] == [1, 1, 1])
    #expect(target(301, at: 3) == 1)
    #expect(target(350, at: 4) == 4)
    var slow = ConnectionRamp(maximum: 4, measuringTime: .seconds(1), rateLimit: 100)
    #expect(targets(&slow, rates: [99]) == [4])
  }

  @Test func `a connection without bytes adds none`() {
    var ramp = ConnectionRamp(maximum: 4, measuringTime: .seconds(1))
    #expect(targets(&ramp, rates: [0]) == [1])
  }

  @Test func `the rate is not measured while a connection is missing`() {
    var ramp = ConnectionRamp(maximum: 8, measuringTime: .seconds(1))
    _ = targets(&ramp, rates: [100])
    ramp.note(100, running: 1, at: begin.advanced(by: .seconds(2)))
    ramp.note(900, running: 1, at: begin.advanced(by: .seconds(4)))
    #expect(ramp.target == 4)
  }

  @Test func `a refusal leaves as many connections as are running`() {
    var ramp = ConnectionRamp(maximum: 4, measuringTime: .zero)
    _ = targets(&ramp, rates: [100])
    #expect(ramp.target == 3)
    ramp.noteRefusal(running: 2)
    #expect(targets(&ramp, rates: [100, 900]) == [2, 2])
    ramp.noteRefusal(running: 0)
    #expect(ramp.target == 1)
  }

  @Test func `a connection has stalled if it has made no progress for a time`() {
    let later = begin.advanced(by: .seconds(10))
    var paces = [0: ConnectionPace(at: 0, begin), 1: ConnectionPace(at: 50, begin)]
    #expect(ConnectionPace.stalled(paces, after: .seconds(10), at: later) == [0, 1])
    paces[1]?.note(51, at: begin.advanced(by: .seconds(5)))
    #expect(ConnectionPace.stalled(paces, after: .seconds(10), at: later) == [0])
    paces[0]?.note(0, at: later)
    #expect(ConnectionPace.stalled(paces, after: .seconds(10), at: later) == [0])
    #expect(ConnectionPace.stalled([:], after: .zero, at: later) == [])
  }
}
