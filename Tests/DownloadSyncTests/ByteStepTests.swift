import DownloadStore
import Foundation
import RecordTestSupport
import Testing

@testable import DownloadSync

/// What a reader of the bytes of a download does next.
@Suite struct ByteStepTests {
  private func record(
    _ state: DownloadState,
    committed: ByteRanges = ByteRanges(),
    expected: Int64? = 100,
    tag: String? = "\"1\""
  ) -> DownloadRecord {
    var record = DownloadRecord.sample()
    record.state = state
    record.received = committed.byteCount
    record.ranges = committed.isPrefix ? nil : committed.encoded
    record.expected = expected
    record.entityTag = tag
    return record
  }

  private let version = Validator(entityTag: "\"1\"", lastModified: nil)
  private static let unfinished: [DownloadState] = [
    .waiting, .running, .paused, .failedRetryable, .finalizing,
  ]

  @Test(arguments: unfinished)
  func `a reader gets the committed bytes after its position`(_ state: DownloadState) {
    let record = record(state, committed: ByteRanges([0..<40, 60..<80]))
    #expect(ByteStep(record, given: 0..<0, version: nil) == .read(upTo: 40))
    #expect(ByteStep(record, given: 0..<30, version: version) == .read(upTo: 40))
    #expect(ByteStep(record, given: 0..<40, version: version) == .wait)
    #expect(ByteStep(record, given: 60..<60, version: nil) == .read(upTo: 80))
    #expect(ByteStep(record, given: 50..<50, version: nil) == .wait)
  }

  @Test(arguments: unfinished)
  func `a reader must not go on after bytes that it got were dropped`(_ state: DownloadState) {
    let dropped = record(state, committed: ByteRanges(upTo: 20))
    #expect(ByteStep(dropped, given: 0..<30, version: version) == .changed)
    #expect(ByteStep(dropped, given: 30..<30, version: nil) == .wait)
    let other = record(state, committed: ByteRanges(upTo: 40), tag: "\"2\"")
    #expect(ByteStep(other, given: 0..<30, version: version) == .changed)
    #expect(ByteStep(other, given: 0..<30, version: nil) == .read(upTo: 40))
    #expect(ByteStep(other, given: 0..<0, version: version) == .read(upTo: 40))
  }

  @Test func `a completed download has all bytes`() {
    let record = record(.completed, committed: ByteRanges(upTo: 100))
    #expect(ByteStep(record, given: 0..<99, version: version) == .read(upTo: 100))
    #expect(ByteStep(record, given: 0..<100, version: version) == .end)
    #expect(ByteStep(record, given: 200..<200, version: nil) == .end)
    let other = self.record(.completed, committed: ByteRanges(upTo: 100), tag: "\"2\"")
    #expect(ByteStep(other, given: 0..<30, version: version) == .changed)
  }

  @Test func `a download that has ended otherwise has no more bytes`() {
    var failed = record(.failedPermanent, committed: ByteRanges(upTo: 40))
    let failure = DownloadFailure(.notFound, "not found")
    failed.attempts = [Attempt(at: Date(), url: "http://h/a", failure: failure, received: 40)]
    #expect(ByteStep(failed, given: 0..<0, version: nil) == .failed(failure))
    #expect(ByteStep(record(.cancelled), given: 0..<0, version: nil) == .cancelled)
    #expect(ByteStep(record(.removed), given: 0..<0, version: nil) == .cancelled)
    var ending = record(.waiting, committed: ByteRanges(upTo: 40))
    for intent in [DownloadIntent.cancel, .remove] {
      ending.intent = intent
      #expect(ByteStep(ending, given: 0..<0, version: nil) == .cancelled)
    }
    #expect(ByteStep(nil, given: 0..<0, version: nil) == .cancelled)
  }
}
