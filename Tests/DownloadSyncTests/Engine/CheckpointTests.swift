import DownloadStore
import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadSync

/// Refuses to truncate files.
private struct RefusedTruncation: FaultInjector {
  func refusal(of effect: Effect) -> Int32? {
    if case .cut = effect { EIO } else { nil }
  }

  func didPerform(_ effect: Effect) {}
}

@Suite struct CheckpointTests {
  @Test func `a checkpoint counts the bytes that are synced`() throws {
    let folder = try TemporaryFolder()
    let transfer = try Transfer.sample(.sample(), path: folder.path("part"))
    try transfer.file.write(Array("body".utf8).span)
    let checkpoint = try Checkpoint.attempt(transfer).get()
    #expect(checkpoint.synced == ByteRanges(upTo: 4))
    #expect(transfer.file.unsynced == 0)
    #expect(checkpoint.key.matches(.sample()))
  }

  /// Returns a transfer of 30 bytes in three pieces with required digests.
  private func transfer(in folder: TemporaryFolder, _ record: DownloadRecord) throws -> Transfer {
    var hasher = DigestHasher(.sha1)
    hasher.update([UInt8](repeating: 1, count: 10).span)
    let required = RequiredPieces(
      byteCount: 30,
      pieceLength: 10,
      digests: [hasher.digest, hasher.digest, hasher.digest]
    )
    let pieces = try #require(PieceDigests(requiring: required, recordID: record.id))
    return try transfer(in: folder, record, pieces)
  }

  private func transfer(
    in folder: TemporaryFolder,
    _ record: DownloadRecord,
    _ pieces: PieceDigests?,
    offset: Int64 = 0,
    faultInjector: (any FaultInjector)? = nil,
    rollBack: @escaping Transfer.RollBack = { _, _ in }
  ) throws -> Transfer {
    Transfer(
      record: record,
      offset: offset,
      pieces: pieces,
      usesResumeData: false,
      file: try PartialFile(
        path: folder.path("part"),
        offset: offset,
        faultInjector: faultInjector
      ),
      checkpointBytes: 1_000,
      now: { Date(timeIntervalSince1970: 0) },
      inbox: EngineInbox(),
      rollBack: rollBack,
      naming: .fromResponse,
      rename: { _ in }
    )
  }

  @Test func `the bytes of a damaged piece are synced and do not count`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample())
    var bytes = [UInt8](repeating: 1, count: 30)
    bytes[15] = 2
    try transfer.file.write(bytes.span)
    let checkpoint = try Checkpoint.attempt(transfer).get()
    #expect(checkpoint.damaged?.ranges == ByteRanges([10..<20]))
    #expect(checkpoint.synced == ByteRanges([0..<10, 20..<30]))
    #expect(transfer.file.written == ByteRanges([0..<10, 20..<30]))
  }

  @Test func `a response with another size than the required pieces is refused at once`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample())
    func receive(_ length: Int) -> BodyDisposition {
      let field = HeaderField(name: "Content-Length", value: "\(length)")
      return transfer.receive(ResponseHead(status: 200, fields: [field]))
    }
    #expect(receive(40) == .cancel)
    #expect(receive(30) == .proceed)
  }

  @Test func `a checkpoint reads no more pieces than it may`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample())
    var bytes = [UInt8](repeating: 1, count: 30)
    bytes[15] = 2
    try transfer.file.write(bytes.span)
    let first = try Checkpoint(syncing: transfer, checkingUpTo: 19)
    #expect(first.damaged == nil)
    let second = try Checkpoint(syncing: transfer, checkingUpTo: 19)
    #expect(second.damaged?.ranges == ByteRanges([10..<20]))
  }

  @Test func `of a file that another program truncates only correct pieces count`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample())
    try transfer.file.write([UInt8](repeating: 1, count: 30).span)
    let handle = try FileHandle(forWritingTo: URL(filePath: folder.path("part")))
    try handle.truncate(atOffset: 15)
    try handle.close()
    let checkpoint = try Checkpoint.attempt(transfer).get()
    #expect(checkpoint.interference == .truncated)
    #expect(checkpoint.synced == ByteRanges(upTo: 10))
    #expect(checkpoint.uncounted == ByteRanges([10..<30]))
    #expect(transfer.file.written == ByteRanges(upTo: 10))
  }

  @Test func `no piece of a file counts that another program has replaced`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample())
    try transfer.file.write([UInt8](repeating: 1, count: 30).span)
    #expect(transfer.recheck(after: .replaced) == ByteRanges(upTo: 30))
  }

  @Test func `pieces without digests count after a change, and not after a truncation`() throws {
    let folder = try TemporaryFolder()
    let record = DownloadRecord.sample()
    let pieces = PieceDigests(recordingFileOf: 30, inPiecesFrom: 10, recordID: record.id)
    let transfer = try transfer(in: folder, record, pieces)
    try transfer.file.write([UInt8](repeating: 1, count: 30).span)
    #expect(transfer.recheck(after: .changed) == nil)
    #expect(transfer.recheck(after: .truncated) == ByteRanges(upTo: 30))
  }

  @Test func `bytes that have changed on disk do not count`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample())
    try transfer.file.write([UInt8](repeating: 1, count: 30).span)
    var checkpoint = try Checkpoint.attempt(transfer).get()
    checkpoint.discard(ByteRanges([10..<20]))
    #expect(checkpoint.synced == ByteRanges([0..<10, 20..<30]))
    #expect(checkpoint.damaged?.ranges == ByteRanges([10..<20]))
  }

  @Test func `a piece that an earlier transfer has stored is not due again`() throws {
    let folder = try TemporaryFolder()
    try folder.makeFile("part", String(repeating: "a", count: 10))
    var record = DownloadRecord.sample()
    record.expected = 30
    let pieces = PieceDigests(recordingFileOf: 30, inPiecesFrom: 10, recordID: record.id)
    let transfer = try transfer(in: folder, record, pieces, offset: 10)
    #expect(transfer.pieces?.table.due(in: ByteRanges(upTo: 30)) == [1, 2])
  }

  @Test func `pieces of an earlier version of the file are not stored`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample())
    let (table, entity) = try #require(transfer.pieces)
    #expect(transfer.replacePieces(with: table, ofEntity: entity))
    #expect(!transfer.replacePieces(with: table, ofEntity: entity + 1))
  }

  @Test func `a damaged piece of an earlier version costs no byte of the new one`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample())
    try transfer.file.write([UInt8](repeating: 1, count: 30).span)
    let (table, entity) = try #require(transfer.pieces)
    let damaged = ByteRanges([10..<20])
    let late = transfer.note(table, damaged: damaged, ofEntity: entity - 1)
    #expect(late.damaged == nil && transfer.damage == nil)
    #expect(transfer.file.written == ByteRanges(upTo: 30))
    let current = transfer.note(table, damaged: damaged, ofEntity: entity)
    #expect(current.damaged?.ranges == damaged && transfer.damage != nil)
    #expect(transfer.file.written == ByteRanges([0..<10, 20..<30]))
  }

  /// Receives the head of the whole file of 20 bytes.
  private func receive(entityTag: String, to transfer: Transfer) -> BodyDisposition {
    let fields = [
      HeaderField(name: "ETag", value: entityTag), HeaderField(name: "Content-Length", value: "20"),
    ]
    return transfer.receive(ResponseHead(status: 200, fields: fields))
  }

  /// Receives ten bytes of the first version of the file.
  private func receiveFirstVersion(to transfer: Transfer) {
    #expect(receive(entityTag: "\"1\"", to: transfer) == .proceed)
    #expect(transfer.receive([UInt8](repeating: 1, count: 10).span) == .proceed)
  }

  @Test func `a checkpoint does not count once another version has begun`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample(), nil)
    receiveFirstVersion(to: transfer)
    let first = try Checkpoint(syncing: transfer)
    #expect(first.isCurrent && first.synced == ByteRanges(upTo: 10))
    #expect(receive(entityTag: "\"2\"", to: transfer) == .proceed)
    #expect(!first.isCurrent)
    let second = try Checkpoint(syncing: transfer)
    #expect(second.isCurrent && second.synced.isEmpty && second.entity.entityTag == "\"2\"")
  }

  @Test func `bytes do not count while they are dropped for another version`() throws {
    let folder = try TemporaryFolder()
    let started = Mutex<Transfer?>(nil)
    let found = Mutex<[Checkpoint]>([])
    let transfer = try transfer(in: folder, .sample(), nil) { _, _ in
      guard let transfer = started.withLock({ $0 }) else { return }
      let checkpoint = try Checkpoint(syncing: transfer)
      #expect(!checkpoint.isCurrent)
      found.withLock { $0.append(checkpoint) }
    }
    started.withLock { $0 = transfer }
    // The transfer has the closure, which has these.
    defer {
      started.withLock { $0 = nil }
      found.withLock { $0 = [] }
    }
    receiveFirstVersion(to: transfer)
    let earlier = try Checkpoint(syncing: transfer)
    #expect(receive(entityTag: "\"2\"", to: transfer) == .proceed)
    let dropped = found.withLock { $0 }
    #expect(dropped.map(\.synced) == [ByteRanges(upTo: 10)])
    #expect(!earlier.isCurrent && dropped.allSatisfy { !$0.isCurrent })
  }

  @Test func `bytes that stay because the file cannot be truncated do not count`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample(), nil, faultInjector: RefusedTruncation())
    receiveFirstVersion(to: transfer)
    #expect(receive(entityTag: "\"2\"", to: transfer) == .cancel)
    let checkpoint = try Checkpoint(syncing: transfer)
    #expect(!checkpoint.isCurrent && checkpoint.synced == ByteRanges(upTo: 10))
  }

  @Test func `bytes count if the commit that drops them fails`() throws {
    let folder = try TemporaryFolder()
    let transfer = try transfer(in: folder, .sample(), nil) { _, _ in
      throw Transfer.RecordChanged()
    }
    receiveFirstVersion(to: transfer)
    let earlier = try Checkpoint(syncing: transfer)
    #expect(receive(entityTag: "\"2\"", to: transfer) == .cancel)
    let later = try Checkpoint(syncing: transfer)
    #expect(earlier.isCurrent && later.isCurrent && later.synced == ByteRanges(upTo: 10))
  }

  @Test func `a checkpoint is due when the interval has passed since the last one`() {
    let now = ContinuousClock.now
    var schedule = CheckpointSchedule(interval: .seconds(1), last: now)
    #expect(!schedule.isDue(at: now.advanced(by: .milliseconds(999))))
    #expect(schedule.isDue(at: now.advanced(by: .seconds(1))))
    schedule.noteDone(at: now.advanced(by: .seconds(3)))
    #expect(!schedule.isDue(at: now.advanced(by: .seconds(3))))
  }
}
