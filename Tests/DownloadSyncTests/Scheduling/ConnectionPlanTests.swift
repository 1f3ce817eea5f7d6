import DownloadStore
import TestSupport
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

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `any order of connections fetches each byte once`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var claims: [Int: PartClaim] = [:]
    var (written, counts, started) = (ByteRanges(), [Int](repeating: 0, count: 300), 0)
    while !written.contains(0..<300) {
      let plan = ConnectionPlan.next(
        missing: written.gaps(in: 0..<300),
        claims: claims.sorted { $0.key < $1.key }.map {
          claim($0.key, $0.value.written..<($0.value.end ?? 300), reserved: $0.value.reserved)
        },
        minimumLength: 5
      )
      switch plan {
      case .fetch(let range) where claims.count < 4:
        claims[started] = PartClaim(from: range.lowerBound, to: range.upperBound)
        started += 1
      case .split(let number, let offset) where claims.count < 4:
        let end = claims[number]?.end
        #expect(claims[number]?.shorten(to: offset) == true)
        claims[started] = PartClaim(from: offset, to: end)
        started += 1
      default: break
      }
      guard let number = claims.keys.sorted().randomElement(using: &random) else { break }
      let piece = claims[number]?.reserve(Int.random(in: 1...20, using: &random)) ?? 0..<0
      for byte in piece { counts[Int(byte)] += 1 }
      written.insert(piece)
      claims[number]?.noteWritten()
      if claims[number]?.isFull == true || Int.random(in: 0..<20, using: &random) == 0 {
        claims[number] = nil
      }
    }
    #expect(counts == [Int](repeating: 1, count: 300))
  }
}
