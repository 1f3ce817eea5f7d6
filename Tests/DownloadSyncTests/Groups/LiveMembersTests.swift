import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct LiveMembersTests {
  typealias Member = GroupTally.Member

  private func running(_ received: Int64) -> Member {
    Member(state: .running, received: received, expected: 100)
  }

  @Test func `what runs is as far as it is`() {
    var live = LiveMembers()
    #expect(live.update(["a": running(30)]) { _ in running(10) } == ["a": running(30)])
    #expect(live.update(["a": running(5)]) { _ in running(10) } == ["a": running(5)])
  }

  @Test func `what has ended stays until the store says what became of it`() {
    var live = LiveMembers()
    _ = live.update(["a": running(100)]) { _ in running(10) }
    #expect(live.update([:]) { _ in running(10) } == ["a": running(100)])
    let completed = Member(state: .completed, received: 100, expected: 100)
    #expect(live.update([:]) { _ in completed } == [:])
    #expect(live.update([:]) { _ in running(10) } == [:])
  }

  @Test func `a checkpoint that is seen late takes nothing back, and an end does`() {
    var live = LiveMembers()
    _ = live.update(["a": running(100)]) { _ in running(10) }
    #expect(live.update([:]) { _ in running(60) } == ["a": running(100)])
    let waiting = Member(state: .waiting, received: 60, expected: 100)
    #expect(live.update([:]) { _ in waiting } == [:])
  }

  @Test func `what is removed is gone`() {
    var live = LiveMembers()
    _ = live.update(["a": running(100)]) { _ in running(10) }
    #expect(live.update([:]) { _ in nil } == [:])
  }
}
