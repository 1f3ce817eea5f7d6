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

  @Test func `a removed download contributes nothing`() {
    var live = LiveMembers()
    _ = live.update(["a": running(100)]) { _ in running(10) }
    #expect(live.update([:]) { _ in nil } == [:])
  }
}
