import DownloadStore
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import DownloadSync

/// Runs a closure during the next sync.
private final class DuringSync: FaultInjector {
  private let work = Mutex<(@Sendable () -> Void)?>(nil)

  func next(_ work: @escaping @Sendable () -> Void) {
    self.work.withLock { $0 = work }
  }

  func refusal(of effect: Effect) -> Int32? {
    guard case .synchronize = effect else { return nil }
    work.withLock { $0.take() }?()
    return nil
  }

  func didPerform(_ effect: Effect) {}
}

/// Records the lengths of writes.
private final class WriteLengths: FaultInjector {
  private let lengths = Mutex<[Int]>([])

  var all: [Int] { lengths.withLock { $0 } }

  func refusal(of effect: Effect) -> Int32? { nil }

  func didPerform(_ effect: Effect) {
    if case .write(_, _, let byteCount) = effect { lengths.withLock { $0.append(byteCount) } }
  }
}

struct TransferTests {
  private let folder: TemporaryFolder
  private let inbox = EngineInbox()

  init() throws {
    folder = try TemporaryFolder()
  }

  private func transfer(
    offset: Int64 = 0,
    expected: Int64? = nil,
    entityTag: String? = nil,
    proof: RangeProof? = nil,
    bytesPerSecond: Int64? = nil,
    faultInjector: (any FaultInjector)? = nil,
    rename: @escaping Transfer.Rename = { _ in }
  ) throws -> Transfer {
    var record = DownloadRecord.sample()
    record.bytesPerSecond = bytesPerSecond
    record.expected = expected
    record.entityTag = entityTag
    return Transfer(
      record: record,
      offset: offset,
      proof: proof,
      usesResumeData: false,
      file: try PartialFile(
        path: folder.path("a.dlstore-part"),
        offset: expected == nil ? 0 : offset,
        faultInjector: faultInjector
      ),
      checkpointBytes: 10,
      now: { Date(timeIntervalSince1970: 0) },
      inbox: inbox,
      rollBack: { _, _ in },
      naming: .fromResponse,
      rename: rename
    )
  }

  /// Returns the number of checkpoint requests since the last call.
  private func checkpointsAsked() async -> Int {
    inbox.post(.ticked)
    return await inbox.next().count { if case .checkpointDue = $0 { true } else { false } }
  }

  @Test func `a checkpoint is requested once, and again after it was made`() async throws {
    let transfer = try transfer()
    #expect(transfer.receive(ResponseHead(status: 200, fields: [])) == .proceed)
    let part = Array(repeating: 1 as UInt8, count: 9)
    #expect(transfer.receive(part.span) == .proceed)
    #expect(await checkpointsAsked() == 0)
    for _ in 0..<3 { #expect(transfer.receive(part.span) == .proceed) }
    #expect(await checkpointsAsked() == 1)
    #expect(try transfer.synchronize() == ByteRanges(upTo: 36))
    #expect(transfer.receive(part.span) == .proceed)
    #expect(await checkpointsAsked() == 0)
    #expect(transfer.receive(part.span) == .proceed)
    #expect(await checkpointsAsked() == 1)
  }

  @Test func `bytes that a running sync covers request no other checkpoint`() async throws {
    let disk = DuringSync()
    let transfer = try transfer(faultInjector: disk)
    #expect(transfer.receive(ResponseHead(status: 200, fields: [])) == .proceed)
    let part = Array(repeating: 1 as UInt8, count: 9)
    for _ in 0..<4 { #expect(transfer.receive(part.span) == .proceed) }
    #expect(await checkpointsAsked() == 1)
    disk.next { _ = transfer.receive(part.span) }
    #expect(try transfer.synchronize() == ByteRanges(upTo: 36))
    #expect(await checkpointsAsked() == 0)
    #expect(transfer.receive(part.span) == .proceed)
    #expect(await checkpointsAsked() == 1)
  }

  /// Returns the second connection of a transfer, whose response has a range of its file.
  private func part(_ range: Range<Int64>, of transfer: Transfer) -> TransferPart {
    let part = TransferPart(
      1,
      of: transfer,
      range: range,
      proof: .digest,
      now: { Date(timeIntervalSince1970: 0) },
      inbox: inbox
    )
    let total = transfer.entity.total ?? 0
    let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
    let field = HeaderField(name: "Content-Range", value: value)
    #expect(part.receive(ResponseHead(status: 206, fields: [field])) == .proceed)
    return part
  }

  @Test func `bytes that are distrusted during a sync do not count after it`() throws {
    let disk = DuringSync()
    let transfer = try transfer(expected: 30, faultInjector: disk)
    let part = part(10..<20, of: transfer)
    #expect(part.receive([UInt8](repeating: 1, count: 4).span) == .proceed)
    #expect(try transfer.synchronize() == ByteRanges([10..<14]))
    disk.next { transfer.distrust(1) }
    #expect(try transfer.synchronize().isEmpty)
    #expect(transfer.takeDistrusted() == ByteRanges([10..<14]))
  }

  @Test(arguments: [(nil, [40_000]), (1 << 50, [16_384, 16_384, 7_232])])
  func `a rate limit divides long pieces`(limit: Int64?, lengths: [Int]) throws {
    let disk = WriteLengths()
    let transfer = try transfer(bytesPerSecond: limit, faultInjector: disk)
    #expect(transfer.receive(ResponseHead(status: 200, fields: [])) == .proceed)
    let piece = Array(repeating: 1 as UInt8, count: 40_000)
    #expect(transfer.receive(piece.span) == .proceed)
    #expect(disk.all == lengths)
  }

  @Test func `a rate limit divides the pieces of a further connection`() throws {
    let disk = WriteLengths()
    let transfer = try transfer(expected: 100_000, bytesPerSecond: 1 << 50, faultInjector: disk)
    let part = part(50_000..<90_000, of: transfer)
    let piece = Array(repeating: 1 as UInt8, count: 40_000)
    #expect(part.receive(piece.span) == .proceed)
    #expect(disk.all == [16_384, 16_384, 7_232])
  }

  @Test func `the bytes of a further connection wait for the rate limit`() throws {
    let transfer = try transfer(expected: 2 << 20, bytesPerSecond: 4 << 20)
    let part = part(0..<1 << 20, of: transfer)
    let piece = Array(repeating: 1 as UInt8, count: 1 << 20)
    let time = ContinuousClock().measure { #expect(part.receive(piece.span) == .proceed) }
    // A tenth of a second may have been saved up before.
    #expect(time >= .milliseconds(140))
  }

  @Test func `a further connection that is to end waits for no rate limit`() throws {
    // Without the end, 16 KiB would take more than four hours.
    let transfer = try transfer(expected: 100_000, bytesPerSecond: 1)
    let part = part(50_000..<90_000, of: transfer)
    part.endLimit()
    let piece = Array(repeating: 1 as UInt8, count: 40_000)
    #expect(part.receive(piece.span) == .proceed)
  }

  @Test(arguments: [
    (StoreError.Code.diskFull, DownloadFailure.Code.diskFull), (.inputOutput, .fileSystem),
  ])
  func `a full disk of the store is a full disk to the transfer`(
    code: StoreError.Code,
    expected: DownloadFailure.Code
  ) async throws {
    let transfer = try transfer { _ in throw StoreError(code, "the disk of the store") }
    let field = HeaderField(name: "Content-Disposition", value: "attachment; filename=x")
    #expect(transfer.receive(ResponseHead(status: 200, fields: [field])) == .cancel)
    transfer.finish(.cancelled)
    let codes = await inbox.next().compactMap { input -> DownloadFailure.Code? in
      guard case .taskEnded(_, .failed(let failure, _)) = input else { return nil }
      return failure.code
    }
    #expect(codes == [expected])
  }

  @Test func `a transport that reports the end twice ends the transfer once`() async throws {
    let transfer = try transfer()
    transfer.finish(.cancelled)
    transfer.finish(.completed)
    let ends = await inbox.next().filter { if case .taskEnded = $0 { true } else { false } }
    #expect(ends.count == 1)
  }

  @Test(arguments: [
    (10, 5, 100 as Int64?, 15, 110 as Int64?), (10, .max, .max, .max, .max),
    (.max - 1, 5, 5, .max, .max), (10, 5, nil, 15, nil),
  ])
  func `bytes held by the transport count from the offset and are clamped`(
    offset: Int64,
    held: Int64,
    total: Int64?,
    received: Int64,
    expected: Int64?
  ) throws {
    let transfer = try transfer(offset: offset)
    transfer.report(held: held, of: total)
    #expect(transfer.received == received)
    #expect(transfer.entity.total == expected)
  }

  @Test func `a server that ignores If-Range is asked without it once`() throws {
    try Data(count: 10).write(to: URL(filePath: folder.path("a.dlstore-part")))
    let transfer = try transfer(offset: 10, expected: 20, entityTag: "\"1\"")
    let fields = [("ETag", "\"1\""), ("Content-Length", "20")]
    let head = ResponseHead(
      status: 200,
      fields: fields.map { HeaderField(name: $0.0, value: $0.1) }
    )
    #expect(transfer.receive(head) == .cancel)
    transfer.finish(.cancelled)
    #expect(transfer.beginAgain())
    #expect(transfer.receive(head) == .proceed)
    #expect(!transfer.beginAgain())
  }

  @Test func `a new version from its first byte is mixed with no other`() throws {
    try Data(count: 10).write(to: URL(filePath: folder.path("a.dlstore-part")))
    let transfer = try transfer(offset: 10, expected: 20, entityTag: "\"1\"", proof: .digest)
    func receive(_ status: Int, _ fields: [(String, String)]) -> BodyDisposition {
      let fields = fields.map { HeaderField(name: $0.0, value: $0.1) }
      return transfer.receive(ResponseHead(status: status, fields: fields))
    }
    #expect(receive(206, [("ETag", "\"2\""), ("Content-Range", "bytes 10-19/20")]) == .proceed)
    #expect(transfer.isMixed)
    #expect(receive(200, [("ETag", "\"3\""), ("Content-Length", "25")]) == .proceed)
    #expect(!transfer.isMixed && transfer.file.written.isEmpty)
  }

  /// Responses to a request for all bytes, or for those from 10 on, of a file of 20 bytes.
  @Test(arguments: [
    (0 as Int64, 200, [("Content-Length", "20")], 21),
    (0, 200, [("Content-Range", "bytes 0-19/20")], 25),
    // Nothing but the known size tells the end of these bodies.
    (10, 200, [("ETag", "\"1\"")], 21),
    // Another version from its first byte.
    (10, 200, [("ETag", "\"2\""), ("Content-Length", "20")], 21),
    (10, 206, [("ETag", "\"1\""), ("Content-Range", "bytes 10-24/*")], 15),
  ])
  func `a body that is longer than the file is not stored, in however few pieces it arrives`(
    offset: Int64,
    status: Int,
    fields: [(String, String)],
    byteCount: Int
  ) async throws {
    try Data(count: Int(offset)).write(to: URL(filePath: folder.path("a.dlstore-part")))
    let transfer = try transfer(
      offset: offset,
      expected: offset > 0 ? 20 : nil,
      proof: offset > 0 ? .stated("\"1\"") : nil
    )
    let head = ResponseHead(
      status: status,
      fields: fields.map { HeaderField(name: $0.0, value: $0.1) }
    )
    #expect(transfer.receive(head) == .proceed)
    #expect(transfer.receive(Array(repeating: 1, count: byteCount).span) == .cancel)
    #expect(transfer.file.written.end == 20)
    transfer.finish(.completed)
    let codes = await inbox.next().compactMap { input -> DownloadFailure.Code? in
      guard case .taskEnded(_, .startOver(let failure)) = input else { return nil }
      return failure.code
    }
    #expect(codes == [.wrongLength])
  }
}
