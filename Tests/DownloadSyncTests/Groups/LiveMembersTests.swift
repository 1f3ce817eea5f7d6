import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct LiveMembersTests {
  typealias Member = GroupTally.Member

  private func running(_ received: Int64) -> Member {
    Member(state: .running, received: received, expected: 100)
  }

  @Test func `a running transfer contributes its live progress`() {
    var live = LiveMembers()
    #expect(live.update(["a": running(30)]) { _ in running(10) } == ["a": running(30)])
    #expect(live.update(["a": running(5)]) { _ in running(10) } == ["a": running(5)])
  }

  @Test func `an ended transfer contributes until the store has its outcome`() {
    var live = LiveMembers()
    _ = live.update(["a": running(100)]) { _ in running(10) }
    #expect(live.update([:]) { _ in running(10) } == ["a": running(100)])
    let completed = Member(state: .completed, received: 100, expected: 100)
    #expect(live.update([:]) { _ in completed } == [:])
    #expect(live.update([:]) { _ in running(10) } == [:])
  }

  @Test func `a late checkpoint does not lower the progress, and an end does`() {
    var live = LiveMembers()
    _ = live.update(["a": running(100)]) { _ in running(10) }
    #expect(live.update([:]) { _ in running(60) } == ["a": running(100)])
    let waiting = Member(state: .waiting, received: 60, expected: 100)
    #expect(live.update([:]) { _ in waiting } == [:])
  }

  @Test func `the records of shared downloads count when they are newer than the transfers`() {
    var live = LiveMembers()
    var record = DownloadRecord.sample()
    (record.state, record.received, record.expected) = (.running, 10, 100)
    let transfer = DownloadProgress(
      recordID: record.id,
      url: record.url,
      filename: record.filename,
      state: .running,
      received: 100,
      expected: 100
    )
    let other = DownloadRecord.sample(url: "https://example.com/b")
    func update(_ transfers: [DownloadProgress] = []) -> Int64 {
      let records = [record, other]
      let newer = live.update(transfers, records)
      return SharedProgress(records: records, transfers: [], isLeading: true, live: newer).received
    }
    #expect(update() == 10)
    #expect(update([transfer]) == 100)
    record.received = 60
    #expect(update() == 100)
    // The engine has stopped, and some bytes could not be synced.
    (record.state, record.received) = (.waiting, 90)
    #expect(update() == 90)
  }

  @Test func `a removed download contributes nothing`() {
    var live = LiveMembers()
    _ = live.update(["a": running(100)]) { _ in running(10) }
    #expect(live.update([:]) { _ in nil } == [:])
  }
}
