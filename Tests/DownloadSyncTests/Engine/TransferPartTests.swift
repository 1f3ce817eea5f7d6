import DownloadStore
import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct TransferPartTests {
  private let folder: TemporaryFolder
  private let inbox = EngineInbox()

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Returns the part 10..<20 of a file of 30 bytes.
  private func part(
    _ proof: RangeProof? = nil,
    source: Int = 0,
    digest: String? = nil
  ) throws -> TransferPart {
    var record = DownloadRecord.sample()
    record.expected = 30
    record.entityTag = "\"1\""
    record.expectedDigest = digest
    let transfer = try Transfer.sample(record, path: folder.path("part"), inbox: inbox)
    return TransferPart(
      1,
      of: transfer,
      range: 10..<20,
      source: source,
      proof: proof ?? .unchanged(transfer.entity.validator),
      now: { Date() },
      inbox: inbox
    )
  }

  private func head(
    _ status: Int = 206,
    range: String? = "bytes 10-19/30",
    tag: String? = "\"1\"",
    _ more: [HeaderField] = []
  ) -> ResponseHead {
    var fields = more
    if let tag { fields.append(HeaderField(name: "ETag", value: tag)) }
    if let range { fields.append(HeaderField(name: "Content-Range", value: range)) }
    return ResponseHead(status: status, fields: fields)
  }

  private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

  private func result() -> TransferResult? {
    for case .partEnded(_, 1, let result) in inbox.take() { return result }
    return nil
  }

  @Test func `a part writes its range, and ends complete`() throws {
    let part = try part()
    #expect(part.receive(head()) == .proceed)
    #expect(part.receive(bytes(4).span) == .proceed)
    #expect(part.receive(bytes(6).span) == .proceed)
    #expect(part.transfer.file.written == ByteRanges([10..<20]))
    part.finish(.completed)
    #expect(result() == .complete)
  }

  @Test func `a shortened part ends at its new end and writes nothing after it`() throws {
    let part = try part()
    #expect(part.receive(head()) == .proceed)
    #expect(part.receive(bytes(3).span) == .proceed)
    part.transfer.request(15..<20, for: 2)
    let other = ResponseHead(status: 206, fields: [HeaderField(name: "ETag", value: "\"1\"")])
    #expect(part.transfer.accept(2, other, 15..<20))
    #expect(part.receive(bytes(7).span) == .cancel)
    #expect(part.transfer.file.written == ByteRanges([10..<15]))
    part.finish(.cancelled)
    #expect(result() == .complete)
  }

  @Test func `a part takes back a range that was not fetched, as long as its response has it`()
    throws
  {
    let part = try part()
    #expect(part.receive(head()) == .proceed)
    part.transfer.request(15..<20, for: 2)
    part.transfer.close(2)
    #expect(part.receive(bytes(10).span) == .proceed)
    part.finish(.completed)
    #expect(result() == .complete)
    #expect(part.transfer.file.written == ByteRanges([10..<20]))
  }

  @Test func `a body that is longer than its range leaves no byte`() throws {
    let part = try part()
    #expect(part.receive(head()) == .proceed)
    #expect(part.receive(bytes(6).span) == .proceed)
    #expect(part.receive(bytes(6).span) == .cancel)
    part.finish(.cancelled)
    guard case .failed(let failure, _) = result() else { throw MissingFailure() }
    #expect(failure.code == .badResponse)
    #expect(part.transfer.file.written.isEmpty)
    // A checkpoint may have counted them.
    let checkpoint = try Checkpoint(syncing: part.transfer)
    #expect(checkpoint.uncounted == ByteRanges([10..<20]) && checkpoint.synced.isEmpty)
  }

  @Test(arguments: ["4", "15"])
  func `a response with another length than its range is refused`(length: String) throws {
    let part = try part()
    let head = head(206, [HeaderField(name: "Content-Length", value: length)])
    #expect(part.receive(head) == .cancel)
    part.finish(.cancelled)
    guard case .failed(let failure, _) = result() else { throw MissingFailure() }
    #expect(failure.code == .badResponse)
  }

  @Test func `distrusted bytes are uncounted once, and count when they are written again`() throws {
    let part = try part()
    let transfer = part.transfer
    #expect(part.receive(head()) == .proceed)
    #expect(part.receive(bytes(4).span) == .proceed)
    // The sync has these bytes, although they are distrusted before the checkpoint is complete.
    #expect(try transfer.synchronize() == ByteRanges([10..<14]))
    #expect(!transfer.needsCheckpoint)
    transfer.distrust(1)
    #expect(transfer.needsCheckpoint)
    #expect(transfer.takeDistrusted() == ByteRanges([10..<14]))
    #expect(!transfer.needsCheckpoint)
    try transfer.file.write(bytes(4).span, at: 10)
    #expect(try transfer.synchronize() == ByteRanges([10..<14]))
    #expect(transfer.takeDistrusted().isEmpty)
  }

  @Test func `a range of one byte is written`() throws {
    var record = DownloadRecord.sample()
    record.expected = 30
    let transfer = try Transfer.sample(record, path: folder.path("one"), inbox: inbox)
    let part = TransferPart(
      1,
      of: transfer,
      range: 10..<11,
      proof: .digest,
      now: { Date() },
      inbox: inbox
    )
    #expect(part.receive(head(range: "bytes 10-10/30")) == .proceed)
    #expect(part.receive(bytes(1).span) == .proceed)
    #expect(transfer.file.written == ByteRanges([10..<11]))
  }

  @Test func `a transport that reports the end of a part twice ends it once`() throws {
    let part = try part()
    part.finish(.cancelled)
    part.finish(.completed)
    let ends = inbox.take().count { if case .partEnded = $0 { true } else { false } }
    #expect(ends == 1)
  }

  @Test func `bytes after the requested range are not written`() throws {
    let part = try part()
    #expect(part.receive(head(range: "bytes 10-29/30")) == .proceed)
    #expect(part.receive(bytes(20).span) == .cancel)
    #expect(part.transfer.file.written == ByteRanges([10..<20]))
  }

  @Test func `a short body is a failure`() throws {
    let part = try part()
    #expect(part.receive(head()) == .proceed)
    #expect(part.receive(bytes(9).span) == .proceed)
    part.finish(.completed)
    guard case .failed(let failure, _) = result() else { throw MissingFailure() }
    #expect(failure.code == .wrongLength)
  }

  private struct MissingFailure: Error {}

  @Test func `a mirror with the same entity tag, or any with a digest, delivers its range`() throws
  {
    for (proof, tag) in [
      (RangeProof.stated("\"1\""), "\"1\""), (.digest, "\"1\""), (.digest, "\"other\""),
    ] {
      let part = try part(proof, source: 1)
      #expect(part.isOfMirror)
      #expect(part.receive(head(tag: tag)) == .proceed)
      #expect(part.receive(bytes(10).span) == .proceed)
      part.finish(.completed)
      #expect(result() == .complete)
    }
  }

  @Test func `a mirror that has another file fails alone`() throws {
    let digest = "sha256:" + String(repeating: "0", count: 64)
    let stated = HeaderField(
      name: "Repr-Digest",
      value: "sha-256=:\(Data(repeating: 1, count: 32).base64EncodedString()):"
    )
    let cases: [(RangeProof, ResponseHead)] = [
      (.stated("\"1\""), head(tag: "\"2\"")),
      (.stated("\"1\""), head(tag: "W/\"1\"")),
      (
        .stated("\"1\""),
        ResponseHead(
          status: 206,
          fields: [
            HeaderField(name: "Content-Range", value: "bytes 10-19/30")
          ]
        )
      ),
      (.digest, head(range: "bytes 10-19/31")),
      (.digest, head(206, range: "bytes 10-19/30", tag: "\"1\"", [stated])),
    ]
    for (proof, head) in cases {
      let part = try part(proof, source: 1, digest: digest)
      #expect(part.receive(head) == .cancel)
      part.finish(.cancelled)
      guard case .failed(let failure, _) = result() else { throw MissingFailure() }
      #expect(failure.code == .entityChanged)
      #expect(part.transfer.file.written.isEmpty)
    }
  }

  @Test(
    arguments: [
      (200, nil, "\"1\"", .badResponse), (206, nil, "\"1\"", .badResponse),
      (206, "bytes 9-19/30", "\"1\"", .badResponse), (206, "bytes 11-19/30", "\"1\"", .badResponse),
      (206, "bytes 10-19/31", "\"1\"", .entityChanged),
      (206, "bytes 10-19/30", "\"2\"", .entityChanged),
      (206, "bytes 10-19/30", nil, .entityChanged), (200, nil, "\"2\"", .entityChanged),
      (429, nil, "\"1\"", .serverBusy), (503, nil, "\"2\"", .serverBusy),
      (403, nil, "\"1\"", .refused),
    ] as [(Int, String?, String?, DownloadFailure.Code)]
  )
  func `a response without the requested bytes is not written`(
    status: Int,
    range: String?,
    tag: String?,
    code: DownloadFailure.Code
  ) throws {
    let part = try part()
    #expect(part.receive(head(status, range: range, tag: tag)) == .cancel)
    part.finish(.cancelled)
    #expect(part.transfer.file.written.isEmpty)
    switch result() {
    case .startOver(let failure), .failed(let failure, _): #expect(failure.code == code)
    default: throw MissingFailure()
    }
  }

  @Test func `a content coding is refused`() throws {
    let coding = HeaderField(name: "Content-Encoding", value: "gzip")
    let part = try part()
    #expect(part.receive(head(206, [coding])) == .cancel)
  }

  @Test func `a content coding of bytes with a required digest is stored`() throws {
    let coding = HeaderField(name: "Content-Encoding", value: "gzip")
    // The bytes of the coded form have the required digest.
    let known = try part(digest: "sha256:" + String(repeating: "0", count: 64))
    #expect(known.receive(head(206, [coding])) == .proceed)
  }
}
