import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import DownloadSync

struct TransferTests {
  @Test(arguments: [
    (10, 5, 100 as Int64?, 15, 110 as Int64?), (10, .max, .max, .max, .max),
    (.max - 1, 5, 5, .max, .max), (10, 5, nil, 15, nil),
  ])
  func `what a transport holds is counted from the offset, and clamped`(
    offset: Int64,
    held: Int64,
    total: Int64?,
    received: Int64,
    expected: Int64?
  ) throws {
    let folder = try TemporaryFolder()
    let transfer = Transfer(
      record: .sample(),
      offset: offset,
      usesResumeData: false,
      file: try PartialFile(path: folder.path("a.dlstore-part"), offset: 0),
      checkpointBytes: 1,
      now: { Date(timeIntervalSince1970: 0) },
      inbox: EngineInbox(),
      startWork: { $0() },
      rollBack: { _, _ in },
      naming: .fromResponse,
      rename: { _ in }
    )
    transfer.report(held: held, of: total)
    #expect(transfer.received == received)
    #expect(transfer.entity.total == expected)
  }
}
