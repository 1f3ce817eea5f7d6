import Foundation
import Testing

@testable import DownloadStore
@testable import DownloadSync

@Suite struct RecordOutcomeTests {
  let moment = Date(timeIntervalSince1970: 1_800_000_000)

  @Test func `the ring keeps the last attempts that failed`() {
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

  @Test func `progress forgives failures, and only progress beyond the best forgives crashes`() {
    var record = DownloadRecord.sample()
    record.failedAttempts = 2
    record.unresolvedStarts = 1
    record.resolvedBytes = 10
    let entity = Transfer.Entity(total: 20, entityTag: "\"x\"", lastModified: nil)
    record.checkpoint(0, entity, at: moment)
    #expect(record.failedAttempts == 2 && record.unresolvedStarts == 1)
    record.checkpoint(10, entity, at: moment)
    #expect(record.received == 10)
    #expect(record.failedAttempts == 0 && record.unresolvedStarts == 1)
    record.checkpoint(11, entity, at: moment)
    #expect(record.unresolvedStarts == 0 && record.resolvedBytes == 11)
    #expect(record.expected == 20 && record.entityTag == "\"x\"")
    // What is on disk does not become less by a checkpoint.
    record.checkpoint(5, entity, at: moment)
    #expect(record.received == 11)
  }

  @Test func `what is dropped takes its validators along`() {
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

  @Test func `mirrors are asked in turn, and each once before the end`() {
    var record = DownloadRecord.sample(url: "a", mirrors: ["b", "c"])
    var asked: [String] = []
    var untried: [Bool] = []
    for failures in Int32(0)..<5 {
      record.failedAttempts = failures
      asked.append(record.source)
      untried.append(record.hasUntriedSource)
    }
    #expect(asked == ["a", "b", "c", "a", "b"])
    #expect(untried == [true, true, true, false, false])
  }
}
