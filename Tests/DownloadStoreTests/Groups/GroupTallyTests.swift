import DownloadStore
import TestSupport
import Testing

@Suite struct GroupTallyTests {
  typealias Member = GroupTally.Member

  private func tally(_ members: [Member]) -> GroupTally {
    var tally = GroupTally()
    for (number, member) in members.enumerated() { tally["\(number)"] = member }
    return tally
  }

  @Test func `an empty group is at rest and has no fraction`() {
    let sums = GroupTally().progress
    #expect(sums == GroupProgress())
    #expect(sums.isAtRest)
    #expect(sums.fraction == nil && sums.fractionOfKnown == nil)
  }

  @Test func `each member is counted under its state`() {
    let sums = tally(
      DownloadState.allCases.map { Member(state: $0, received: 10, expected: 40) }
    ).progress
    #expect(sums.members == 7)
    #expect(sums.completed == 1)
    #expect(sums.failed == 1)
    #expect(sums.paused == 1)
    #expect(sums.running == 2)
    #expect(sums.waiting == 2)
    #expect(sums.received == 70)
    #expect(sums.expected == 280)
    #expect(!sums.isAtRest)
  }

  @Test func `cancelled members are not counted`() {
    var tally = tally([Member(state: .running, received: 10, expected: 40)])
    tally["0"] = Member(state: .cancelled, received: 10, expected: 40)
    #expect(tally.progress == GroupProgress())
    tally["0"] = Member(state: .waiting, received: 0, expected: nil)
    #expect(tally.progress.members == 1)
  }

  @Test func `the fraction of a group with unknown sizes covers the known sizes only`() {
    let sums = tally([
      Member(state: .running, received: 30, expected: 40),
      Member(state: .running, received: 1000, expected: nil),
    ]).progress
    #expect(sums.received == 1030)
    #expect(sums.expected == 40)
    #expect(sums.unknownTotals == 1)
    #expect(sums.fraction == nil)
    #expect(sums.fractionOfKnown == 0.75)
    #expect(sums.estimate.remaining == nil)
  }

  @Test func `a group whose sizes are known has a fraction and a time remaining`() {
    var sums = tally([
      Member(state: .completed, received: 40, expected: 40),
      Member(state: .running, received: 20, expected: 60),
    ]).progress
    sums.bytesPerSecond = 10
    #expect(sums.fraction == 0.6)
    #expect(sums.fractionOfKnown == 0.6)
    #expect(sums.estimate.remaining == .seconds(4))
  }

  @Test func `an expected size below the received bytes counts as unknown`() {
    let sums = tally([Member(state: .running, received: 50, expected: 40)]).progress
    #expect(sums.unknownTotals == 1)
    #expect(sums.expected == 0)
    #expect(sums.fractionOfKnown == nil)
  }

  @Test func `sums of extreme sizes do not overflow`() {
    var tally = tally([
      Member(state: .running, received: .max, expected: .max),
      Member(state: .running, received: .min, expected: .max),
      Member(state: .running, received: 0, expected: .min),
    ])
    #expect(tally.progress.expected == .max)
    tally["0"] = nil
    tally["1"] = Member(state: .running, received: 5, expected: 10)
    #expect(tally.progress.expected == 10)
    #expect(tally.progress.received == 5)
  }

  @Test func `the speed counts only bytes that arrive while the group is observed`() {
    var tally = GroupTally()
    tally["a"] = Member(state: .paused, received: 1000, expected: nil)
    #expect(tally.arrived == 0)
    tally["a"] = Member(state: .running, received: 1200, expected: nil)
    #expect(tally.arrived == 200)
    // The bytes were dropped, and the download restarts.
    tally["a"] = Member(state: .running, received: 0, expected: nil)
    #expect(tally.arrived == 200)
    tally["a"] = Member(state: .running, received: 50, expected: nil)
    tally["b"] = Member(state: .completed, received: 5000, expected: 5000)
    tally["a"] = nil
    #expect(tally.arrived == 250)
  }

  @Test func `live progress replaces the stored progress of members without changing the tally`() {
    let tally = tally([
      Member(state: .running, received: 10, expected: nil),
      Member(state: .waiting, received: 20, expected: 40),
    ])
    let before = tally.progress
    let live = tally.progress(with: [
      "0": Member(state: .running, received: 15, expected: 100),
      "stranger": Member(state: .running, received: 1000, expected: 1000),
    ])
    #expect(live.received == 35)
    #expect(live.expected == 140)
    #expect(live.members == 2)
    #expect(live.unknownTotals == 0)
    #expect(tally.progress == before)
    #expect(tally.arrived == 0)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `incremental updates give the same totals as counting all members`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var tally = GroupTally()
    var members: [String: Member] = [:]
    for _ in 0..<400 {
      let id = String(Int.random(in: 0..<12, using: &random))
      var member: Member?
      if Int.random(in: 0..<5, using: &random) > 0 {
        member = Member(
          state: DownloadState.allCases.randomElement(using: &random)!,
          received: Int64.random(in: 0...100, using: &random),
          expected: Bool.random(using: &random)
            ? nil : Int64.random(in: 0...200, using: &random)
        )
      }
      let arrived = tally.arrived
      tally[id] = member
      members[id] = member
      #expect(tally.arrived >= arrived)

      var recomputed = GroupTally()
      for (id, member) in members { recomputed[id] = member }
      #expect(tally.progress == recomputed.progress)
      #expect(tally.progress.waiting >= 0)
      #expect(tally.progress.fraction.map { (0...1).contains($0) } ?? true)
      #expect(tally.progress.fractionOfKnown.map { (0...1).contains($0) } ?? true)
    }
  }
}
