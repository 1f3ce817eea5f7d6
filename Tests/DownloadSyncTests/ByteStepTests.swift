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

  /// The bytes that a reader has given out of the file of a record; by default of one with a tag.
  private func given(_ range: Range<Int64>, of record: DownloadRecord? = nil) -> GivenBytes {
    var given = GivenBytes(from: range.lowerBound)
    guard !range.isEmpty else { return given }
    given.append(upTo: range.upperBound, of: record ?? self.record(.running))
    return given
  }

  private static let unfinished: [DownloadState] = [
    .waiting, .running, .paused, .failedRetryable, .finalizing,
  ]

  @Test(arguments: unfinished)
  func `a reader gets the committed bytes after its position`(_ state: DownloadState) {
    let record = record(state, committed: ByteRanges([0..<40, 60..<80]))
    #expect(ByteStep(record, given: given(0..<0)) == .read(upTo: 40))
    #expect(ByteStep(record, given: given(0..<30)) == .read(upTo: 40))
    #expect(ByteStep(record, given: given(0..<40)) == .wait)
    #expect(ByteStep(record, given: given(60..<60)) == .read(upTo: 80))
    #expect(ByteStep(record, given: given(50..<50)) == .wait)
  }

  @Test(arguments: unfinished)
  func `a reader must not go on after bytes that it got were dropped`(_ state: DownloadState) {
    let dropped = record(state, committed: ByteRanges(upTo: 20))
    #expect(ByteStep(dropped, given: given(0..<30)) == .changed)
    #expect(ByteStep(dropped, given: given(30..<30)) == .wait)
    let other = record(state, committed: ByteRanges(upTo: 40), tag: "\"2\"")
    #expect(ByteStep(other, given: given(0..<30)) == .changed)
    #expect(ByteStep(other, given: given(0..<0)) == .read(upTo: 40))
  }

  @Test func `a completed download has all bytes`() {
    let record = record(.completed, committed: ByteRanges(upTo: 100))
    #expect(ByteStep(record, given: given(0..<99)) == .read(upTo: 100))
    #expect(ByteStep(record, given: given(0..<100)) == .end)
    #expect(ByteStep(record, given: given(200..<200)) == .end)
    let other = self.record(.completed, committed: ByteRanges(upTo: 100), tag: "\"2\"")
    #expect(ByteStep(other, given: given(0..<30)) == .changed)
  }

  // MARK: A reader that has missed the loss of its bytes

  /// The record of bytes that are in the file with an inode number, of a server without validators.
  private func unvalidated(
    _ state: DownloadState,
    in number: UInt64?,
    expected: Int64? = 100
  ) -> DownloadRecord {
    var record = record(state, committed: ByteRanges(upTo: 100), expected: expected, tag: nil)
    let file = number.map { FileIdentity(size: 100, inode: $0, modified: 0) }
    if state == .completed { record.fileIdentity = file } else { record.partialIdentity = file }
    return record
  }

  private static let readable = unfinished + [.completed]

  @Test(arguments: readable)
  func `without a validator, only the same file has the next bytes`(_ state: DownloadState) {
    let first = given(0..<30, of: unvalidated(.running, in: 7))
    #expect(ByteStep(unvalidated(state, in: 7), given: first) == .read(upTo: 100))
    #expect(ByteStep(unvalidated(state, in: 8), given: first) == .changed)
    // A file that is not known is no other one.
    #expect(ByteStep(unvalidated(state, in: nil), given: first) == .read(upTo: 100))
    let unknown = given(0..<30, of: unvalidated(.running, in: nil))
    #expect(ByteStep(unvalidated(state, in: 8), given: unknown) == .read(upTo: 100))
    // The file of the first bytes counts, whatever a later record knows.
    var second = first
    second.append(upTo: 40, of: unvalidated(.running, in: nil))
    #expect(ByteStep(unvalidated(state, in: 8), given: second) == .changed)
  }

  @Test func `another file that is complete is not the end of the bytes`() {
    let all = given(0..<100, of: unvalidated(.running, in: 7, expected: nil))
    #expect(ByteStep(unvalidated(.completed, in: 7), given: all) == .end)
    #expect(ByteStep(unvalidated(.completed, in: 8), given: all) == .changed)
    let more = given(0..<120, of: unvalidated(.running, in: nil, expected: nil))
    #expect(ByteStep(unvalidated(.completed, in: nil), given: more) == .changed)
  }

  @Test(arguments: readable)
  func `an equal validator shows that the bytes are the same`(_ state: DownloadState) {
    let first = given(0..<30)
    var record = unvalidated(state, in: 8)
    #expect(ByteStep(record, given: first) == .changed)
    record.entityTag = "\"1\""
    #expect(ByteStep(record, given: first) == .read(upTo: 100))
    var dated = unvalidated(.running, in: 7)
    dated.lastModified = "Thu, 26 Nov 2026 10:00:00 GMT"
    record.lastModified = dated.lastModified
    #expect(ByteStep(record, given: given(0..<30, of: dated)) == .read(upTo: 100))
    record.lastModified = nil
    #expect(ByteStep(record, given: given(0..<30, of: dated)) == .changed)
  }

  @Test(arguments: readable)
  func `with a required digest, another validator of the same file changes nothing`(
    _ state: DownloadState
  ) {
    var first = unvalidated(.running, in: 7)
    first.entityTag = "\"1\""
    var given = given(0..<30, of: first)
    var same = unvalidated(state, in: 7)
    same.entityTag = "\"2\""
    #expect(ByteStep(same, given: given) == .changed)
    given.hasRequiredDigest = true
    #expect(ByteStep(same, given: given) == .read(upTo: 100))
    #expect(ByteStep(unvalidated(state, in: 7), given: given) == .read(upTo: 100))
    // A download that began again has another file.
    var other = unvalidated(state, in: 8)
    #expect(ByteStep(other, given: given) == .changed)
    other.entityTag = "\"1\""
    #expect(ByteStep(other, given: given) == .read(upTo: 100))
    #expect(ByteStep(unvalidated(state, in: 7, expected: 200), given: given) == .changed)
  }

  @Test(arguments: readable)
  func `a file of another size is another version`(_ state: DownloadState) {
    let first = given(0..<30, of: unvalidated(.running, in: 7, expected: 200))
    #expect(ByteStep(unvalidated(state, in: 7), given: first) == .changed)
    #expect(ByteStep(unvalidated(state, in: 7, expected: 200), given: first) == .read(upTo: 100))
    let unsized = given(0..<30, of: unvalidated(.running, in: 7, expected: nil))
    #expect(ByteStep(unvalidated(state, in: 7), given: unsized) == .read(upTo: 100))
  }

  @Test func `a download that has ended otherwise has no more bytes`() {
    var failed = record(.failedPermanent, committed: ByteRanges(upTo: 40))
    let failure = DownloadFailure(.notFound, "not found")
    failed.attempts = [Attempt(at: Date(), url: "http://h/a", failure: failure, received: 40)]
    #expect(ByteStep(failed, given: given(0..<0)) == .failed(failure))
    #expect(ByteStep(record(.cancelled), given: given(0..<0)) == .cancelled)
    #expect(ByteStep(record(.removed), given: given(0..<0)) == .cancelled)
    var ending = record(.waiting, committed: ByteRanges(upTo: 40))
    for intent in [DownloadIntent.cancel, .remove] {
      ending.intent = intent
      #expect(ByteStep(ending, given: given(0..<0)) == .cancelled)
    }
    #expect(ByteStep(nil, given: given(0..<0)) == .cancelled)
  }
}
