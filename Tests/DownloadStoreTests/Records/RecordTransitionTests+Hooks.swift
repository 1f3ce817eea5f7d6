import Foundation
import ObjectStore
import RecordTestSupport
import Testing

@testable import DownloadStore

// The marks of hooks that have not succeeded.

extension RecordTransitionTests {
  @Test func `an end marks its own hooks, and only those that the engine has`() {
    let all = Set(DownloadHook.allCases)
    for record in Self.records(for: .completed()) {
      var completed = record
      completed.take(.completed(marking: all), at: Self.moment)
      #expect(completed.pendingHooks == [.completion, .completionWebhook])
      completed.take(.completed(marking: [.completionWebhook]), at: Self.moment)
      #expect(completed.pendingHooks == [.completionWebhook])
      for hooks in [[], [DownloadHook.failure, .failureWebhook]] {
        completed.take(.completed(marking: Set(hooks)), at: Self.moment)
        #expect(completed.pendingHooks.isEmpty)
      }
    }
    for record in Self.records(for: Self.failing) {
      var failed = record
      failed.take(Self.attempt(marking: all, retryingAfter: nil), at: Self.moment)
      #expect(failed.pendingHooks == [.failure, .failureWebhook])
      var retried = record
      retried.take(Self.attempt(marking: all, retryingAfter: .zero), at: Self.moment)
      #expect(retried.pendingHooks.isEmpty)
    }
    let crashed = Self.unattended(after: .several, maximumCrashes: 0, marking: all)
    for var record in Self.records(for: crashed) {
      record.take(crashed, at: Self.moment)
      #expect(record.pendingHooks == [.failure, .failureWebhook])
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
    for hook in [DownloadHook.completion, .failureWebhook] { failed.finishHook(hook) }
    #expect(failed.pendingHooks == [.failure])
    failed.finishHook(.failure)
    #expect(failed.pendingHooks.isEmpty)
    #expect(failed.state == .failedPermanent && failed.generation == 7)
  }

  @Test(
    arguments: [
      [], [.completion], [.completionWebhook], [.completion, .completionWebhook],
    ] as [Set<DownloadHook>]
  )
  func `a refresh that leaves the finished file leaves the marks of its end`(
    marks: Set<DownloadHook>
  ) {
    var record = DownloadRecord.sample(.finalizing, .run)
    record.fileIdentity = FileIdentity(size: 10, inode: 1, modified: 1)
    record.take(.completed(marking: marks), at: Self.moment)
    record.take(.command(.refresh), at: Self.moment + 1)
    #expect(record.pendingHooks.isEmpty)
    record.take(.started(keepingBytes: false), at: Self.moment + 2)
    record.take(.notModified, at: Self.moment + 3)
    #expect(record.state == .completed && record.pendingHooks == marks)
  }
}
