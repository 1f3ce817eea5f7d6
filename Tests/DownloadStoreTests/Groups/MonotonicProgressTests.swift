import DownloadStore
import TestSupport
import Testing

@Suite struct MonotonicProgressTests {
  private func group(
    _ members: [(received: Int64, expected: Int64?)],
    completed: Int = 0
  ) -> GroupProgress {
    var tally = GroupTally()
    for (number, member) in members.enumerated() {
      tally["\(number)"] = GroupTally.Member(
        state: number < completed ? .completed : .running,
        received: member.received,
        expected: member.expected
      )
    }
    return tally.progress
  }

  @Test func `there is no fraction until a size is known`() {
    var fraction = MonotonicProgress()
    #expect(fraction.update(group([(10, nil)])) == nil)
    #expect(fraction.update(group([(10, 40)])) == 0.25)
  }

  @Test func `a size that becomes known does not lower the fraction`() {
    var fraction = MonotonicProgress()
    #expect(fraction.update(group([(50, 100), (0, nil)])) == 0.5)
    #expect(fraction.update(group([(60, 100), (0, 900)])) == 0.5)
    #expect(fraction.update(group([(100, 100), (500, 900)])) == 0.6)
  }

  @Test func `dropped bytes lower the fraction`() {
    var fraction = MonotonicProgress()
    fraction.update(group([(50, 100)]))
    #expect(fraction.update(group([(0, 100)])) == 0)
  }

  @Test func `a change of members lowers the fraction`() {
    var fraction = MonotonicProgress()
    fraction.update(group([(50, 100)]))
    #expect(fraction.update(group([(50, 100), (0, 100)])) == 0.25)
  }

  @Test func `the fraction is 1 only when every member is complete`() {
    var fraction = MonotonicProgress()
    #expect(fraction.update(group([(100, 100), (0, nil)], completed: 1)) == 0.99)
    #expect(fraction.update(group([(100, 100), (100, 100)], completed: 1)) == 0.99)
    #expect(fraction.update(group([(100, 100), (100, 100)], completed: 2)) == 1)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `the fraction never falls while the same members continue`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var members = (0..<8).map { _ in
      (received: 0 as Int64, size: Int64.random(in: 1...1000, using: &random), isKnown: false)
    }
    var fraction = MonotonicProgress()
    var shown = 0.0
    while !members.allSatisfy({ $0.received == $0.size }) {
      let place = Int.random(in: 0..<8, using: &random)
      members[place].isKnown = true
      members[place].received = min(
        members[place].size,
        members[place].received + Int64.random(in: 0...200, using: &random)
      )
      let next = fraction.update(group(members.map { ($0.received, $0.isKnown ? $0.size : nil) }))
      #expect((next ?? 0) >= shown && (next ?? 0) < 1)
      shown = next ?? 0
    }
  }
}
