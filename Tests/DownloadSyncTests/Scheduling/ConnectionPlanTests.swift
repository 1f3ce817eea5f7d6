import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct ConnectionPlanTests {
  private func claim(
    _ number: Int,
    _ range: Range<Int64>,
    reserved: Int64? = nil
  )
    -> ConnectionPlan.Claim
  {
    ConnectionPlan.Claim(number: number, range: range, reserved: reserved ?? range.lowerBound)
  }

  @Test func `the longest range without a connection comes first`() {
    let missing = ByteRanges([0..<10, 20..<50, 60..<90])
    let step = ConnectionPlan.next(missing: missing, claims: [], minimumLength: nil)
    #expect(step == .fetch(20..<50))
    let next = ConnectionPlan.next(
      missing: missing,
      claims: [claim(0, 20..<50)],
      minimumLength: 1
    )
    #expect(next == .fetch(60..<90))
  }

  @Test func `the longest rest of a connection is halved`() {
    let missing = ByteRanges([0..<40, 50..<150])
    let claims = [claim(0, 0..<40), claim(3, 50..<150, reserved: 70)]
    let step = ConnectionPlan.next(missing: missing, claims: claims, minimumLength: 40)
    #expect(step == .split(number: 3, at: 110))
  }

  @Test func `no half is shorter than the minimum`() {
    let claims = [claim(0, 0..<79)]
    let missing = ByteRanges(upTo: 79)
    #expect(ConnectionPlan.next(missing: missing, claims: claims, minimumLength: 40) == nil)
    #expect(ConnectionPlan.next(missing: missing, claims: claims, minimumLength: nil) == nil)
    let one = ByteRanges(upTo: 1)
    #expect(ConnectionPlan.next(missing: one, claims: [claim(0, 0..<1)], minimumLength: 0) == nil)
  }

  @Test func `nothing is left to fetch of a complete file`() {
    #expect(ConnectionPlan.next(missing: ByteRanges(), claims: [], minimumLength: 1) == nil)
  }
}
