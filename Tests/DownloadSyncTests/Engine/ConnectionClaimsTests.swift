import DownloadStore
import TestSupport
import Testing

@testable import DownloadSync

/// Which connection writes which bytes.
@Suite struct ConnectionClaimsTests {
  /// The first connection of a file of 100 bytes, whose response has all of them.
  private func first() -> ConnectionClaims {
    var claims = ConnectionClaims()
    claims.open(0, PartClaim(ByteRanges(upTo: 100), from: 0, to: 100))
    return claims
  }

  /// Writes the next bytes of a connection, and returns their range.
  private func write(
    _ count: Int,
    of number: Int,
    in claims: inout ConnectionClaims
  ) -> PartClaim.Step {
    let step = claims.next(number, count)
    _ = claims.noteWritten(number)
    return step
  }

  @Test func `a request takes nothing, and its response takes the range`() {
    var claims = first()
    claims.request(60..<100, for: 1)
    #expect(claims[0]?.rest == ByteRanges(upTo: 100))
    #expect(claims.ranges(ofSize: 100).map(\.range) == [0..<60, 60..<100])
    let hasBytes = claims.accept(1, from: 60, to: 100, written: ByteRanges())
    #expect(hasBytes)
    #expect(claims[0]?.rest == ByteRanges(upTo: 60))
    #expect(claims[1]?.rest == ByteRanges([60..<100]))
  }

  @Test func `a connection that is refused leaves the range where it was`() {
    var claims = first()
    claims.request(50..<100, for: 1)
    claims.request(75..<100, for: 2)
    claims.request(25..<50, for: 3)
    #expect(claims.ranges(ofSize: 100).map(\.range) == [0..<25, 50..<75, 75..<100, 25..<50])
    for number in 1...3 { claims.close(number) }
    #expect(claims[0]?.rest == ByteRanges(upTo: 100))
    #expect(claims.ranges(ofSize: 100).map(\.range) == [0..<100])
  }

  @Test func `a response takes the bytes that the owner has not reached`() {
    var claims = first()
    claims.request(40..<60, for: 1)
    #expect(write(50, of: 0, in: &claims) == .write(0..<50))
    let hasBytes = claims.accept(1, from: 40, to: 60, written: ByteRanges(upTo: 50))
    #expect(hasBytes)
    #expect(claims.next(1, 30) == .skip(10))
    #expect(claims.next(1, 20) == .write(50..<60))
    #expect(claims[0]?.rest == ByteRanges([60..<100]))
  }

  @Test func `bytes that another connection is writing are not taken`() {
    var claims = first()
    claims.request(40..<60, for: 1)
    #expect(claims.next(0, 50) == .write(0..<50))
    let hasBytes = claims.accept(1, from: 40, to: 60, written: ByteRanges())
    #expect(hasBytes && claims[1]?.rest == ByteRanges([50..<60]))
  }

  @Test func `a response that comes too late takes nothing`() {
    var claims = first()
    claims.request(40..<60, for: 1)
    #expect(write(70, of: 0, in: &claims) == .write(0..<70))
    let hasBytes = claims.accept(1, from: 40, to: 60, written: ByteRanges(upTo: 70))
    #expect(!hasBytes)
  }

  @Test func `a response with fewer bytes than requested takes only these`() {
    var claims = first()
    claims.request(40..<100, for: 1)
    let hasBytes = claims.accept(1, from: 40, to: 50, written: ByteRanges())
    #expect(hasBytes && claims[1]?.rest == ByteRanges([40..<50]))
    #expect(claims[0]?.rest == ByteRanges([0..<40, 50..<100]))
    #expect(claims.next(0, 40) == .write(0..<40))
    let ends = claims.noteWritten(0)
    #expect(!ends)
    #expect(write(10, of: 1, in: &claims) == .write(40..<50))
    #expect(claims.left(1, ofSize: 100).isEmpty)
  }

  @Test func `a response of unknown length that ends within the bytes on disk leaves the others`() {
    var claims = ConnectionClaims()
    claims.open(0, PartClaim(ByteRanges([20..<Int64.max]), from: 0))
    #expect(claims.left(0, ofSize: nil) == 0..<20)
    #expect(write(15, of: 0, in: &claims) == .skip(15))
    #expect(claims.left(0, ofSize: nil) == 15..<20)
    #expect(write(15, of: 0, in: &claims) == .skip(5))
    #expect(claims.left(0, ofSize: nil).isEmpty)
  }

  @Test func `the bytes that a connection leaves go to the response that reaches them next`() {
    var claims = first()
    claims.request(50..<100, for: 1)
    _ = claims.accept(1, from: 50, to: 100, written: ByteRanges())
    claims.request(75..<100, for: 2)
    _ = claims.accept(2, from: 75, to: 100, written: ByteRanges())
    #expect(write(5, of: 2, in: &claims) == .write(75..<80))
    claims.close(2)
    #expect(claims[1]?.rest == ByteRanges([50..<75, 80..<100]))
    claims.close(1)
    // The response of the first connection has these bytes, too: it skips those in between.
    #expect(claims[0]?.rest == ByteRanges([0..<75, 80..<100]))
    #expect(write(80, of: 0, in: &claims) == .write(0..<75))
    #expect(claims.next(0, 9) == .skip(5))
    #expect(write(20, of: 0, in: &claims) == .write(80..<100))
  }

  @Test func `a response that has passed some bytes is not given them`() {
    var claims = first()
    claims.request(20..<40, for: 1)
    _ = claims.accept(1, from: 20, to: 40, written: ByteRanges())
    #expect(write(20, of: 0, in: &claims) == .write(0..<20))
    #expect(claims.next(0, 30) == .skip(20))
    claims.close(1)
    #expect(claims[0]?.rest == ByteRanges([40..<100]))
  }

  @Test func `no connection writes after the end of the file`() {
    var claims = ConnectionClaims()
    claims.open(0, PartClaim(ByteRanges(CollectionOfOne(0..<Int64.max)), from: 0))
    claims.limit(to: 100)
    #expect(claims[0]?.rest == ByteRanges(upTo: 100))
  }

  @Test func `a connection keeps its next bytes if it reaches them soon`() {
    var claim = PartClaim(ByteRanges([0..<10, 50..<60]), from: 0, to: 100)
    let given = claim.giveSpare(0..<100)
    #expect(given == ByteRanges([50..<60]) && claim.rest == ByteRanges(upTo: 10))
  }

  @Test func `a connection that would skip many bytes hands over when another has its response`() {
    let megabyte: Int64 = 1 << 20
    let (size, middle) = (12 * megabyte, 6 * megabyte)
    var claims = ConnectionClaims()
    claims.open(0, PartClaim(ByteRanges(upTo: size), from: 0, to: size))
    claims.request(middle..<size, for: 1)
    _ = claims.accept(1, from: middle, to: size, written: ByteRanges())
    #expect(claims.next(1, Int(3 * megabyte)) == .write(middle..<9 * megabyte))
    _ = claims.noteWritten(1)
    claims.close(1)
    #expect(claims.spare == nil && !claims.hasIdle)
    #expect(claims.next(0, Int(middle)) == .write(0..<middle))
    _ = claims.noteWritten(0)
    #expect(claims.spare == 9 * megabyte..<size && claims.hasIdle)
    claims.requestSpare(9 * megabyte..<size, for: 2)
    #expect(claims.spare == nil)
    var refused = claims
    refused.close(2)
    #expect(refused[0]?.rest == ByteRanges([9 * megabyte..<size]))
    #expect(refused.spare == 9 * megabyte..<size, "another one may be asked")
    let hasBytes = claims.accept(2, from: 9 * megabyte, to: size, written: ByteRanges())
    #expect(hasBytes && claims[2]?.rest == ByteRanges([9 * megabyte..<size]))
    #expect(claims.next(0, 10) == .end && claims.hasIdle)
  }

  @Test func `a connection without bytes ends, and is given no more`() {
    var claims = first()
    claims.request(10..<100, for: 1)
    _ = claims.accept(1, from: 10, to: 100, written: ByteRanges())
    #expect(claims.next(0, 20) == .write(0..<10))
    let ends = claims.noteWritten(0)
    #expect(ends)
    claims.close(1)
    #expect(claims[0]?.rest == ByteRanges())
  }

  @Test func `a body that is longer than its response declares is noticed`() {
    var claims = ConnectionClaims()
    claims.open(0, PartClaim(ByteRanges([10..<20]), from: 10, to: 20))
    #expect(claims.next(0, 15) == .write(10..<20))
    let ends = claims.noteWritten(0)
    #expect(!ends)
    #expect(claims.next(0, 5) == .excess)
  }

  /// As in a download with one connection, whose claim has every byte after the response, too.
  @Test func `nothing after the declared end is written, even if it arrives with the end`() {
    var claims = ConnectionClaims()
    claims.open(0, PartClaim(ByteRanges(CollectionOfOne(10..<Int64.max)), from: 10, to: 20))
    #expect(claims.next(0, 15) == .write(10..<20))
    let ends = claims.noteWritten(0)
    #expect(!ends)
    #expect(claims.next(0, 5) == .excess)
    claims.open(0, PartClaim(ByteRanges(CollectionOfOne(30..<Int64.max)), from: 10, to: 20))
    #expect(claims.next(0, 15) == .skip(10))
    #expect(claims.next(0, 5) == .excess)
  }

  /// A server whose responses may be late, refused, short or cut off, in any order.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `each byte is written once, and the first response always has the rest`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let size: Int64 = 300
    var claims = ConnectionClaims()
    claims.open(0, PartClaim(ByteRanges(upTo: size), from: 0, to: size))
    var (written, counts) = (ByteRanges(), [Int](repeating: 0, count: Int(size)))
    var asked: [Int: Range<Int64>] = [:]
    var open: Set<Int> = [0]
    var number = 0
    while !written.contains(0..<size), open.contains(0) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        let plan = ConnectionPlan.next(
          missing: written.gaps(in: 0..<size),
          claims: claims.ranges(ofSize: size),
          minimumLength: 5
        )
        var range: Range<Int64>?
        switch plan {
        case .fetch(let free): range = free
        case .split(let owner, let offset):
          let claim = claims.ranges(ofSize: size).first { $0.number == owner }
          range = claim.map { offset..<$0.range.upperBound }
        case nil: break
        }
        guard let range, asked.count + open.count < 6 else { continue }
        number += 1
        claims.request(range, for: number)
        asked[number] = range
      case 2:
        guard
          let (answered, range) = asked.sorted(by: { $0.key < $1.key })
            .randomElement(using: &random)
        else { continue }
        asked[answered] = nil
        let isShort = !range.isEmpty && Int.random(in: 0..<4, using: &random) == 0
        let end =
          isShort
          ? Int64.random(in: range.lowerBound + 1...range.upperBound, using: &random)
          : range.upperBound
        if Bool.random(using: &random),
          claims.accept(answered, from: range.lowerBound, to: end, written: written)
        {
          open.insert(answered)
        } else {
          claims.close(answered)
        }
      case 3:
        // Any connection but the first one may be lost.
        guard let lost = open.subtracting([0]).sorted().randomElement(using: &random) else {
          continue
        }
        open.remove(lost)
        claims.close(lost)
      default:
        guard let moved = open.sorted().randomElement(using: &random) else { continue }
        switch claims.next(moved, Int.random(in: 1...20, using: &random)) {
        case .write(let range):
          for byte in range { counts[Int(byte)] += 1 }
          written.insert(range)
          guard claims.noteWritten(moved) else { continue }
          open.remove(moved)
          claims.close(moved)
        case .skip: break
        case .end, .excess:
          open.remove(moved)
          claims.close(moved)
        }
      }
      for owner in open {
        guard let claim = claims[owner] else { continue }
        #expect(claim.rest.end <= claim.responseEnd || claim.rest.isEmpty)
      }
      // While the first response lasts, every byte after its position has an owner.
      guard let position = claims[0]?.position else { continue }
      var free = written.gaps(in: position..<size)
      for owner in open { for range in claims[owner]?.rest.ranges ?? [] { free.remove(range) } }
      #expect(free.isEmpty)
    }
    #expect(counts.allSatisfy { $0 <= 1 })
  }
}
