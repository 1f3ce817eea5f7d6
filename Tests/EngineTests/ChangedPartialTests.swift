import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestTraits
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// Partial files that another program changes between two runs, without making them shorter.
@Suite(.timeLimit(.minutes(10)))
struct ChangedPartialTests {
  static let length: Int64 = 100_000
  static let size: Int64 = 1_050_000
  static let body = Body.generated(byteCount: size, seed: 79)

  let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  @discardableResult
  func run(
    pieceLength: Int64 = length,
    _ change: (inout EngineOptions) -> Void = { _ in }
  ) async throws -> [DownloadEvent] {
    try await fixture.run { options in
      options.pieceLength = pieceLength
      change(&options)
    }
    .events
  }

  /// Runs the download until the server closes the connection, and returns its partial file.
  func interrupt(pieceLength: Int64 = length, digest: Digest? = nil) async throws -> String {
    let record = try await fixture.breakOff(
      "/a",
      Self.body,
      after: 850_000,
      pieceLength: pieceLength
    ) { $0.digest = digest }
    #expect(record.received == 850_000)
    return try fixture.store.roots().layout(of: record).partialPath
  }

  /// The number of bytes of the complete pieces.
  func wholePieces() throws -> Int64 {
    try fixture.record("/a").received / Self.length * Self.length
  }

  func modified(_ path: String) throws -> Date {
    try #require(FileIdentity(ofFileAt: path)).modificationDate
  }

  func setModified(_ path: String, _ date: Date) throws {
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
  }

  /// Overwrites some bytes, as another program would an hour later.
  func overwrite(_ path: String, at offset: Int64) throws {
    let before = try modified(path)
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data([UInt8](repeating: 0, count: 64)))
    try handle.close()
    try setModified(path, before + 3_600)
  }

  /// Moves all times an hour back, as if the download had been interrupted then.
  private func waitAnHour(_ path: String) throws {
    try setModified(path, try modified(path) - 3_600)
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: fixture.server.url("/a")) { record in
        record.partialWrittenAt = record.partialWrittenAt.map { $0 - 3_600 }
        record.partialIdentity?.modified -= 3_600_000_000_000
      }
    }
  }

  func expectComplete() throws {
    #expect(try fixture.record("/a").state == .completed)
    #expect(Self.body.matches(file: fixture.file("a")))
  }

  func hasRolledBack(_ events: [DownloadEvent]) -> Bool {
    events.contains { if case .rolledBack = $0 { true } else { false } }
  }

  @Test func `a partial file that was overwritten keeps the pieces that are intact`() async throws {
    let path = try await interrupt()
    let kept = try wholePieces()
    try overwrite(path, at: 150_000)
    try fixture.add("/a")
    let events = try await run()
    try expectComplete()
    // The last piece was not complete, so nothing shows whether its bytes are intact.
    #expect(fixture.ranges("/a").dropFirst() == ["bytes=100000-199999", "bytes=\(kept)-1049999"])
    #expect(!hasRolledBack(events))
  }

  @Test func `a partial file that only has a later time keeps its complete pieces`() async throws {
    let path = try await interrupt()
    let kept = try wholePieces()
    try setModified(path, try modified(path) + 3_600)
    try fixture.add("/a")
    try await run()
    try expectComplete()
    #expect(fixture.ranges("/a").dropFirst() == ["bytes=\(kept)-"])
  }

  /// Puts a file with some other bytes in the place of the partial file, as old as it or older.
  private func replace(_ path: String, age: Double) throws {
    let before = try modified(path)
    var bytes = Self.body.bytes(at: 0, count: Int(try fixture.record("/a").received))
    for index in 150_000..<150_064 { bytes[index] ^= 0xFF }
    try Data(bytes).write(to: URL(filePath: path + "-other"))
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + "-other", toPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try setModified(path, before - age)
  }

  @Test(arguments: [0, 10, 86_400] as [Double])
  func `of a file that replaced the partial one only intact pieces count`(age: Double) async throws
  {
    let path = try await interrupt()
    let kept = try wholePieces()
    try replace(path, age: age)
    try fixture.add("/a")
    try await run()
    try expectComplete()
    #expect(fixture.ranges("/a").dropFirst() == ["bytes=100000-199999", "bytes=\(kept)-1049999"])
    // The record knows the new file now.
    #expect(try fixture.record("/a").partialIdentity?.size == Self.size)
  }

  @Test func `of a file that replaced the partial one no byte counts without digests`() async throws
  {
    let path = try await interrupt(pieceLength: 2 * Self.size)
    try replace(path, age: 0)
    try fixture.add("/a")
    let events = try await run(pieceLength: 2 * Self.size)
    try expectComplete()
    #expect(fixture.ranges("/a") == [nil, nil])
    #expect(hasRolledBack(events))
  }

  @Test func `a restored copy of the partial file costs a read`() async throws {
    let path = try await interrupt()
    let kept = try wholePieces()
    let before = try modified(path)
    try FileManager.default.copyItem(atPath: path, toPath: path + "-copy")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + "-copy", toPath: path)
    try setModified(path, before)
    try fixture.add("/a")
    try await run()
    try expectComplete()
    #expect(fixture.ranges("/a").dropFirst() == ["bytes=\(kept)-"])
  }

  @Test func `a changed partial file is read once`() async throws {
    let path = try await interrupt()
    let kept = try wholePieces()
    try overwrite(path, at: 150_000)
    try fixture.add("/a")
    // The next attempt counts nothing new.
    fixture.server.route("/a", Resource(Self.body, faults: .status(503)))
    try await run { $0.retry = RetryPolicy(maximumAttempts: 1) }
    let record = try fixture.record("/a")
    #expect(record.received == kept - Self.length)
    let found = Reconciliation(of: record, in: try fixture.store.roots(), now: Date())
    #expect(!found.reconcileCase.conditions.isPartialChanged)
  }

  @Test func `of a changed partial file without digests no byte counts`() async throws {
    let path = try await interrupt(pieceLength: 2 * Self.size)
    try overwrite(path, at: 150_000)
    try fixture.add("/a")
    let events = try await run(pieceLength: 2 * Self.size)
    try expectComplete()
    #expect(fixture.ranges("/a") == [nil, nil])
    #expect(hasRolledBack(events))
  }

  @Test func `a required digest of the whole file decides about a changed partial file`()
    async throws
  {
    let path = try await interrupt(pieceLength: 2 * Self.size, digest: Self.digest)
    let received = try fixture.record("/a").received
    try setModified(path, try modified(path) + 3_600)
    try fixture.add("/a")
    try await run(pieceLength: 2 * Self.size)
    try expectComplete()
    #expect(fixture.ranges("/a") == [nil, "bytes=\(received)-"])
  }

  private static var digest: Digest {
    var hasher = DigestHasher(.sha256)
    hasher.update(body.bytes(at: 0, count: Int(size)).span)
    return hasher.digest
  }

  @Test
  func `of a file with a wrong digest only the pieces that have changed on disk are requested`()
    async throws
  {
    let path = try await interrupt(digest: Self.digest)
    let received = try fixture.record("/a").received
    let before = try modified(path)
    try overwrite(path, at: 150_000)
    // The time does not show the change.
    try setModified(path, before)
    try fixture.add("/a")
    let events = try await run()
    try expectComplete()
    #expect(fixture.ranges("/a") == [nil, "bytes=\(received)-", "bytes=100000-199999"])
    #expect(try fixture.record("/a").attempts.last?.failure.code == .pieceMismatch)
    #expect(!hasRolledBack(events))
  }

  @Test func `a file whose pieces are as they were received is dropped if its digest is wrong`()
    async throws
  {
    fixture.server.route("/a", Resource(.generated(byteCount: Self.size, seed: 80)))
    try fixture.add("/a") { $0.digest = Self.digest }
    try await run()
    let record = try fixture.record("/a")
    #expect(record.state == .failedPermanent && record.received == 0)
    #expect(record.attempts.last?.failure.code == .digestMismatch)
    #expect(fixture.ranges("/a") == [nil])
    // The bytes are of no use.
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == [])
  }

  @Test func `a complete partial file that was changed is not renamed`() async throws {
    let path = try await interrupt()
    let kept = try wholePieces()
    // The record of a download that was killed before its rename was logged.
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.write(contentsOf: Data(Self.body.bytes(at: 0, count: Int(Self.size))))
    try handle.close()
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: fixture.server.url("/a")) { record in
        record.received = Self.size
        record.partialWrittenAt = try? modified(path)
        record.partialIdentity = FileIdentity(ofFileAt: path)
      }
    }
    try overwrite(path, at: 150_000)
    try fixture.add("/a")
    try await run()
    try expectComplete()
    #expect(fixture.ranges("/a").dropFirst() == ["bytes=100000-199999", "bytes=\(kept)-1049999"])
  }

  @Test func `an attempt without a byte is not taken for a change`() async throws {
    let path = try await interrupt()
    let received = try fixture.record("/a").received
    try waitAnHour(path)
    try fixture.add("/a")
    fixture.server.route("/a", Resource(Self.body, faults: .status(503)))
    try await run { $0.retry = RetryPolicy(maximumAttempts: 1) }
    try fixture.add("/a")
    try await run()
    try expectComplete()
    #expect(fixture.ranges("/a").last == "bytes=\(received)-")
  }

  @Test func `the truncation after a kill is not taken for a change`() async throws {
    let path = try await interrupt()
    let received = try fixture.record("/a").received
    // The engine was killed after the write of bytes that it did not commit.
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data([UInt8](repeating: 0, count: 64)))
    try handle.close()
    try waitAnHour(path)
    try fixture.add("/a")
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: fixture.server.url("/a")) { $0.state = .running }
    }
    try await run()
    try expectComplete()
    #expect(fixture.ranges("/a").last == "bytes=\(received)-")
  }
}
