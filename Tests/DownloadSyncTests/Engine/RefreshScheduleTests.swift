import Foundation
import Testing

@testable import DownloadSync

@Suite struct RefreshScheduleTests {
  private let moment = Date(timeIntervalSince1970: 1_800_000_000)
  private let start = ContinuousClock.now

  @Test func `a service looks once a second for what is due by then`() {
    var schedule = RefreshSchedule()
    schedule.begin(.stopped, at: moment)
    #expect(schedule.cutoff(at: moment, start) == moment)
    #expect(schedule.cutoff(at: moment + 0.5, start + .milliseconds(500)) == nil)
    #expect(schedule.cutoff(at: moment + 1, start + .seconds(1)) == moment + 1)
  }

  @Test func `a run that ends does what is due at its start, in pages`() {
    var schedule = RefreshSchedule()
    schedule.begin(.idle, at: moment)
    #expect(schedule.cutoff(at: moment + 1, start) == moment)
    schedule.noteFound(RefreshSchedule.page)
    #expect(schedule.hasMore)
    #expect(schedule.cutoff(at: moment + 90, start) == moment)
    schedule.noteFound(3)
    #expect(!schedule.hasMore)
    #expect(schedule.cutoff(at: moment + 90, start + .seconds(90)) == nil)
  }
}
