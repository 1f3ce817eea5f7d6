import Foundation
import Testing

@testable import Fuzzing

struct HangWatchTests {
  private let start = ContinuousClock.now

  /// Looks at a worker at some seconds, and returns those at which it hangs.
  private func hangs(_ looks: [(seconds: Int, count: UInt64, time: Double?)]) -> [Int] {
    var watch = HangWatch(limit: .seconds(20), at: start)
    return looks.compactMap { look in
      let time = look.time.map { Duration.seconds($0) }
      let instant = start + .seconds(look.seconds)
      return watch.hangs(count: look.count, processorTime: time, at: instant) ? look.seconds : nil
    }
  }

  @Test func `a worker that computes for too long hangs`() {
    #expect(hangs([(1, 1, 1), (20, 1, 20), (22, 1, 22)]) == [22])
  }

  @Test func `a worker that gets no time does not hang before six times the limit`() {
    #expect(hangs([(1, 1, 1), (60, 1, 3), (120, 1, 4), (122, 1, 4)]) == [122])
  }

  @Test func `the time begins again with each input`() {
    #expect(hangs([(1, 1, 1), (20, 1, 20), (21, 2, 21), (40, 2, 40), (42, 2, 42)]) == [42])
  }

  @Test func `without processor times the time that passes counts`() {
    #expect(hangs([(1, 1, nil), (20, 1, nil), (22, 1, nil)]) == [22])
  }

  #if os(Linux)
    @Test func `the processor time of a process grows while it computes`() throws {
      let process = ProcessInfo.processInfo.processIdentifier
      let before = try #require(HangWatch.processorTime(of: process))
      var sum: UInt64 = 0
      while try #require(HangWatch.processorTime(of: process)) == before { sum &+= 1 }
      #expect(HangWatch.processorTime(of: -1) == nil)
    }
  #endif
}
