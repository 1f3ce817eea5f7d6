import Foundation
import Testing

@testable import DownloadStore
@testable import DownloadSync

@Suite struct RecordOutcomeTests {
  let moment = Date(timeIntervalSince1970: 1_800_000_000)

  @Test func `a record keeps the last failed attempts up to the limit`() {
    var record = DownloadRecord.sample()
    record.received = 7
    for number in 0..<40 {
      record.note(DownloadFailure(.timedOut, "\(number)"), url: "u", at: moment)
    }
    #expect(record.attempts.map(\.failure.message) == (24..<40).map(String.init))
    #expect(record.attempts.count == Attempt.limit)
    #expect(record.attempts.last?.received == 7)
    #expect(record.updatedAt == moment)
  }

  @Test func `only progress beyond the previous maximum clears failed attempts and crashes`() {
    var record = DownloadRecord.sample()
    record.failedAttempts = 2
    record.unresolvedStarts = 1
    record.resolvedBytes = 10
    let entity = Transfer.Entity(total: 20, entityTag: "\"x\"", lastModified: nil)
    record.checkpoint(0, entity, at: moment)
    #expect(record.failedAttempts == 2 && record.unresolvedStarts == 1)
    record.checkpoint(10, entity, at: moment)
    #expect(record.received == 10)
    #expect(record.failedAttempts == 2 && record.unresolvedStarts == 1)
    record.checkpoint(11, entity, at: moment)
    #expect(record.failedAttempts == 0 && record.unresolvedStarts == 0)
    #expect(record.resolvedBytes == 11)
    #expect(record.expected == 20 && record.entityTag == "\"x\"")
    // A checkpoint does not lower the byte count.
    record.checkpoint(5, entity, at: moment)
    #expect(record.received == 11)
  }

  @Test func `completing a record clears its hold, its priority start and its retry`() {
    var record = DownloadRecord.sample()
    record.isHeld = true
    record.startsImmediately = true
    record.failedAttempts = 2
    record.unresolvedStarts = 1
    record.nextRetryAt = moment
    record.resumeData = Data([1])
    record.replacedFileIdentity = FileIdentity(size: 1, inode: 2, modified: 3)
    record.complete(at: moment)
    #expect(record.state == .completed && record.completedAt == moment)
    #expect(!record.isHeld && !record.startsImmediately && record.replacedFileIdentity == nil)
    #expect(record.failedAttempts == 0 && record.unresolvedStarts == 0)
    #expect(record.nextRetryAt == nil && record.resumeData == nil)
  }

  @Test func `a refused request needs a new URL only if bytes were received before`() {
    var record = DownloadRecord.sample()
    let refusal = DownloadFailure(.refused, "the server answered with status 403")
    #expect(refusal.afterProgress(of: record) == refusal)
    record.received = 1
    #expect(refusal.afterProgress(of: record).code == .needsURL)
    let other = DownloadFailure(.notFound, "the server answered with status 404")
    #expect(other.afterProgress(of: record) == other)
  }

  @Test func `dropping the bytes drops their validators`() {
    var record = DownloadRecord.sample()
    record.received = 5
    record.expected = 9
    record.entityTag = "\"x\""
    record.lastModified = "y"
    record.resolvedBytes = 5
    record.rollBack()
    #expect(record.received == 0 && record.expected == nil)
    #expect(record.entityTag == nil && record.lastModified == nil)
    #expect(record.resolvedBytes == 5)
  }
}
