import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore
@testable import DownloadSync

@Suite struct PartialChecksTests {
  private static let digest = [UInt8](repeating: 7, count: 8)

  private func found(_ name: String) throws -> Reconciliation {
    let record = DownloadRecord.sample(url: "https://example.com/\(name)")
    return Reconciliation(
      of: record,
      in: Roots(paths: [:], standardPath: "/nonexistent", storeID: "1"),
      now: record.createdAt
    )
  }

  /// Digests of three pieces, of which the first has one.
  private func digests(pieceLength: Int64 = 10) throws -> PieceDigests {
    var digests = try #require(
      PieceDigests(recordingFileOf: 3 * pieceLength, inPiecesFrom: pieceLength, recordID: "a")
    )
    digests.record(Self.digest, of: 0)
    return digests
  }

  private func add(_ names: [String], to checks: inout PartialChecks) throws {
    for name in names {
      let found = try found(name)
      checks.insert(found, Scheduler.Candidate(found.record, order: 1, volume: 0))
    }
  }

  /// Begins to read the next file.
  private func begin(_ checks: inout PartialChecks) throws -> PartialChecks.Entry {
    let next = checks.next()
    let entry = try #require(next)
    _ = checks.begin(entry, with: try digests())
    return entry
  }

  @Test func `two files are read at a time, and the others follow in order`() throws {
    var checks = PartialChecks()
    try add(["d", "c", "b", "a"], to: &checks)
    let read = [try begin(&checks), try begin(&checks)].map(\.key.url.last)
    #expect(read == ["d", "c"])
    let third = checks.next()
    #expect(third?.key.url == nil)
    checks.remove("https://example.com/c")
    let next = try begin(&checks)
    #expect(next.key.url == "https://example.com/b")
    let none = checks.next()
    #expect(none?.key.url == nil)
  }

  @Test func `a file that is removed while it waits is not read`() throws {
    var checks = PartialChecks()
    try add(["a", "b"], to: &checks)
    let removed = checks.remove("https://example.com/a")
    #expect(removed?.candidate.url == "https://example.com/a")
    let next = checks.next()
    #expect(next?.key.url == "https://example.com/b")
    #expect(checks.urls == ["https://example.com/b"])
  }

  @Test func `a file that is added again while it waits is read once`() throws {
    var checks = PartialChecks()
    try add(["a"], to: &checks)
    checks.remove("https://example.com/a")
    try add(["a"], to: &checks)
    let entry = try begin(&checks)
    #expect(entry.key.url == "https://example.com/a")
    let none = checks.next()
    #expect(none?.key.url == nil)
  }

  @Test func `no byte counts of a file whose later part cannot be read`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.makeFile("part", String(repeating: "a", count: 30))
    var digests = try #require(
      PieceDigests(recordingFileOf: 30, inPiecesFrom: 10, recordID: "a")
    )
    var check = PieceCheck(ofFileAt: path, digests)
    check.note(.success(try PieceReport(ofFileAt: path, digests)))
    #expect(check.correct.isEmpty)
    let file = try LockedFile(path, for: .writing)
    for piece in 0..<3 {
      let digest = try #require(try digests.digest(of: piece, inFile: file.descriptor))
      digests.record(digest, of: piece)
    }
    check = PieceCheck(ofFileAt: path, digests)
    check.note(.success(try PieceReport(ofFileAt: path, digests, in: 0..<2)))
    #expect(check.correct == ByteRanges(upTo: 20))
    check.note(.failure(FileReadError(code: EIO)))
    #expect(check.correct.isEmpty && check.next == nil)
  }

  @Test func `what was read for a check that has ended is ignored`() throws {
    var checks = PartialChecks()
    try add(["a"], to: &checks)
    let first = try begin(&checks)
    checks.remove(first.key.url)
    try add(["a"], to: &checks)
    let second = try begin(&checks)
    let error = FileReadError(code: EIO)
    let ignored = checks.note(.failure(error), of: first.key.url, number: first.number)
    #expect(ignored == nil)
    let noted = checks.note(.failure(error), of: second.key.url, number: second.number)
    #expect(noted != nil)
  }

  @Test func `a record of another generation is not the one whose file is read`() throws {
    var checks = PartialChecks()
    try add(["a"], to: &checks)
    var record = try found("a").record
    #expect(checks.contains(record))
    record.generation += 1
    #expect(!checks.contains(record))
  }

  @Test func `a large file is read in parts of 64 MiB`() throws {
    let digests = try digests(pieceLength: 64 << 20)
    var check = PieceCheck(ofFileAt: "/nonexistent", digests)
    var parts: [Range<Int>] = []
    while let part = check.next {
      parts.append(part.pieces)
      check.note(.success(try PieceReport(ofFileAt: #filePath, digests, in: 0..<0)))
    }
    #expect(parts == [0..<1, 1..<2, 2..<3])
  }

  @Test func `without digests there is nothing to read`() {
    let check = PieceCheck(ofFileAt: "/nonexistent", nil)
    #expect(check.next == nil && check.correct.isEmpty && check.temporaryFailure == nil)
  }

  @Test(arguments: [EMFILE, ENFILE, ENOMEM, ESTALE, EBUSY])
  func `an error that passes says nothing about the bytes`(code: Int32) throws {
    var check = PieceCheck(ofFileAt: "/nonexistent", try digests())
    check.note(.failure(FileReadError(code: code)))
    #expect(check.next == nil && check.temporaryFailure != nil)
  }

  @Test(arguments: [ENOENT, EIO, EACCES, ELOOP])
  func `no byte counts of a file that cannot be read`(code: Int32) throws {
    var check = PieceCheck(ofFileAt: "/nonexistent", try digests())
    check.note(.failure(FileReadError(code: code)))
    #expect(check.next == nil && check.correct.isEmpty && check.temporaryFailure == nil)
  }
}
