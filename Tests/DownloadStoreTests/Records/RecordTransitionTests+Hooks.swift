import Foundation
import ObjectStore
import RecordTestSupport
import Testing

@testable import DownloadStore

// The marks of hooks that have not succeeded.

extension RecordTransitionTests {
  @Test func `an end marks its own hook, and only if the engine has that hook`() {
    let all = Set(DownloadHook.allCases)
    for record in Self.records(for: .completed()) {
      var completed = record
      completed.take(.completed(marking: all), at: Self.moment)
      #expect(completed.pendingHooks == [.completion])
      for hooks in [[], [DownloadHook.failure]] {
        completed.take(.completed(marking: Set(hooks)), at: Self.moment)
        #expect(completed.pendingHooks.isEmpty)
      }
    }
    for record in Self.records(for: Self.failing) {
      var failed = record
      failed.take(Self.attempt(marking: all, retryingAfter: nil), at: Self.moment)
      #expect(failed.pendingHooks == [.failure])
      var retried = record
      retried.take(Self.attempt(marking: all, retryingAfter: .zero), at: Self.moment)
      #expect(retried.pendingHooks.isEmpty)
    }
    let crashed = Self.unattended(after: .several, maximumCrashes: 0, marking: all)
    for var record in Self.records(for: crashed) {
      record.take(crashed, at: Self.moment)
      #expect(record.pendingHooks == [.failure])
    }
  }

  @Test func `a mark goes with its end: a hook that succeeds, and every new attempt, clear it`() {
    var failed = Self.record(.running, .run)
    failed.take(Self.attempt(marking: [.failure], retryingAfter: nil), at: Self.moment)
    var completed = Self.record(.finalizing, .run)
    completed.take(.completed(marking: [.completion]), at: Self.moment)
    let commands: [DownloadCommand] = [
      .resume(immediately: false), .cancel, .restart, .remove(withFile: false), .pause,
    ]
    #expect(
      commands.map { failed.applying($0).pendingHooks } == [[], [], [], [], [.failure]]
    )
    #expect(
      commands.map { completed.applying($0).pendingHooks }
        == [[.completion], [.completion], [], [], [.completion]]
    )
    failed.finishHook(.completion)
    #expect(failed.pendingHooks == [.failure])
    failed.finishHook(.failure)
    #expect(failed.pendingHooks.isEmpty)
    #expect(failed.state == .failedPermanent && failed.generation == 7)
  }
}
