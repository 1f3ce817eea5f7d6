import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

@Suite struct AttemptEndTests {
  private let settings = AttemptEnd.Settings(
    retry: RetryPolicy(maximumAttempts: 3),
    hooks: [.failure],
    random: 0.5,
    moment: Date(timeIntervalSince1970: 1_700_000_100)
  )

  /// A record with some bytes, as a transfer of it ends.
  private func record(
    _ state: DownloadState = .running,
    _ intent: DownloadIntent = .run,
    failedAttempts: Int32 = 0
  ) -> DownloadRecord {
    var record = DownloadRecord.sample()
    (record.state, record.intent, record.received) = (state, intent, 7)
    record.failedAttempts = failedAttempts
    return record
  }

  private func commit(
    _ end: AttemptEnd,
    to record: DownloadRecord
  ) throws -> (committed: AttemptEnd.Committed, effects: [AttemptEnd.Effect])? {
    var stored = record
    guard let committed = try end.apply(to: &stored, settings) else {
      #expect(stored == record, "a late failure changes nothing")
      return nil
    }
    #expect(stored == committed.record)
    return (committed, end.effects(after: committed))
  }

  @Test func `a wrong digest does not fail a download that requires another one by now`() throws {
    var stored = record()
    var end = AttemptEnd(of: stored, DownloadFailure(.digestMismatch, "no"), bytes: .drop)
    end.comparedDigest = "sha256:1"
    let cases: [(String?, Bool)] = [(nil, true), ("sha256:1", true), ("sha256:2", false)]
    for (required, isFailure) in cases {
      stored.expectedDigest = required
      #expect(try (commit(end, to: stored) != nil) == isFailure)
    }
  }

  private static let allBytes: [AttemptEnd.Bytes] = [.keep, .drop, .restart(from: 7)]

  @Test(arguments: DownloadFailure.Code.allCases)
  func `a failed attempt is retried, or fails its download, or ends its pause`(
    code: DownloadFailure.Code
  ) throws {
    for bytes in Self.allBytes {
      for failedAttempts in [0, 2] as [Int32] {
        for state in DownloadState.allCases {
          for intent in DownloadIntent.allCases {
            let before = record(state, intent, failedAttempts: failedAttempts)
            let end = AttemptEnd(of: before, DownloadFailure(code, "no"), bytes: bytes)
            let isExpected = !before.isGivenUp && before.state.isProceeding
            guard let (committed, effects) = try commit(end, to: before) else {
              #expect(!isExpected, "\(state) \(intent)")
              continue
            }
            #expect(isExpected, "\(state) \(intent)")
            check(end, before, committed, effects)
          }
        }
      }
    }
  }

  private func check(
    _ end: AttemptEnd,
    _ before: DownloadRecord,
    _ committed: AttemptEnd.Committed,
    _ effects: [AttemptEnd.Effect]
  ) {
    let record = committed.record
    let comment = Comment(rawValue: "\(before.state) \(before.intent) \(end.bytes) \(effects)")
    switch end.kind {
    case .lacksDiskSpace:
      #expect(record.failedAttempts == before.failedAttempts && record.received == 7, comment)
      #expect(effects.first == .reportFullDisk, comment)
      #expect(effects.contains(.enqueue(after: nil, size: nil)) == record.mayStart, comment)
    case .lacksResources:
      #expect(record.failedAttempts == before.failedAttempts && record.received == 7, comment)
      #expect(record.attempts.isEmpty, comment)
      #expect(effects.first == (record.mayStart ? .reportShortage : .release), comment)
      #expect(effects.contains(.enqueue(after: nil, size: nil)) == record.mayStart, comment)
    case .refusesCopy:
      #expect(record.failedAttempts == before.failedAttempts && record.received == 0, comment)
    case .failed:
      #expect(record.failedAttempts == before.failedAttempts + 1, comment)
      #expect(record.attempts.last?.failure == committed.failure, comment)
      let drops = end.bytes != .keep
      #expect(record.received == (drops ? 0 : 7) && effects.contains(.removePartial) == drops)
      let restarts = end.bytes == .restart(from: 7)
      #expect(effects.contains(.reportLoss(7)) == restarts, comment)
      let isQueued = effects.contains(.enqueue(after: committed.wait, size: nil))
      let ends = [effects.contains(.reportPause), effects.contains(.reportFailure), isQueued]
      #expect(ends.count { $0 } == 1, comment)
      #expect((record.state == .paused) == ends[0], comment)
      #expect((record.state == .failedPermanent) == ends[1], comment)
      #expect(record.state == .failedPermanent || record.pendingHooks.isEmpty, comment)
      // The observers are told of each retry, once.
      let tells = effects.contains { if case .reportRetry = $0 { true } else { false } }
      #expect(tells == (isQueued && !(restarts && committed.wait == .zero)), comment)
      #expect(!restarts || committed.wait == nil || committed.wait == .zero, comment)
    }
  }

  @Test func `a server that asks for a wait gets it`() throws {
    let before = record()
    let failure = DownloadFailure(.serverBusy, "")
    let end = AttemptEnd(of: before, failure, retryAfter: .seconds(30))
    let (committed, effects) = try #require(try commit(end, to: before))
    #expect(committed.wait == .seconds(30))
    #expect(
      effects == [.reportRetry(wait: .seconds(30)), .enqueue(after: .seconds(30), size: nil)]
    )
  }

  @Test func `useless bytes do not use up more attempts than others`() throws {
    let before = record(failedAttempts: 2)
    let failure = DownloadFailure(.entityChanged, "")
    let end = AttemptEnd(of: before, failure, bytes: .restart(from: 7))
    let (committed, effects) = try #require(try commit(end, to: before))
    #expect(committed.wait == nil && committed.record.state == .failedPermanent)
    #expect(effects == [.removePartial, .reportLoss(7), .reportFailure])
  }

  @Test func `a file that cannot be copied costs no attempt, and no byte of it counts`() throws {
    let before = record(failedAttempts: 2)
    let failure = DownloadFailure(.fileSystem, "copying the bytes of /a: the file has changed")
    var end = AttemptEnd(of: before, failure, bytes: .restart(from: 7))
    end.refusesCopy = true
    let (committed, effects) = try #require(try commit(end, to: before))
    #expect(committed.record.state == .waiting && committed.record.failedAttempts == 2)
    #expect(committed.record.received == 0 && committed.record.attempts.last?.failure == failure)
    #expect(effects == [.removePartial, .reportLoss(7), .enqueue(after: nil, size: nil)])
    let (_, ofPaused) = try #require(try commit(end, to: record(.running, .pause)))
    #expect(ofPaused == [.removePartial, .reportLoss(7), .release])
  }

  @Test func `a download waits for as much space as its server has stated`() throws {
    let before = record()
    let head = ResponseHead(
      status: 200,
      fields: [HeaderField(name: "Content-Length", value: "900")]
    )
    let failure = DownloadFailure(.diskFull, "")
    let end = AttemptEnd(of: before, failure, head: head)
    let (_, effects) = try #require(try commit(end, to: before))
    #expect(effects == [.reportFullDisk, .enqueue(after: nil, size: 900)])
    #expect(AttemptEnd(of: before, failure, head: head, size: 5).size == 5)
  }

  @Test func `a refusal after some bytes asks for another URL`() throws {
    var before = record()
    before.entityTag = "\"1\""
    let end = AttemptEnd(of: before, DownloadFailure(.refused, "status 403"))
    let (committed, _) = try #require(try commit(end, to: before))
    #expect(committed.failure.code == .needsURL)
  }
}
