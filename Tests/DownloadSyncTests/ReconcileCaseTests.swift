import Foundation
import TestSupport
import Testing

@testable import DownloadStore
@testable import DownloadSync

@Suite struct ReconcileCaseTests {
  @Test(
    arguments: [
      (nil, nil, nil, false),
      ("\"x\"", nil, nil, true),
      ("W/\"x\"", nil, nil, false),
      (nil, "Sun, 06 Nov 1994 08:49:37 GMT", nil, true),
      (nil, "", nil, false),
      (nil, nil, "sha256:aa", true),
    ] as [(String?, String?, String?, Bool)]
  )
  func `bytes are continued with a validator, or with a digest that will tell`(
    entityTag: String?,
    lastModified: String?,
    digest: String?,
    canContinue: Bool
  ) {
    var record = DownloadRecord.sample()
    record.state = .paused
    record.intent = .hold
    record.entityTag = entityTag
    record.lastModified = lastModified
    record.expectedDigest = digest
    let facts = FileFacts(final: .foreign, partial: .longer, partialSize: 5)
    #expect(
      ReconcileCase(record: record, facts: facts, task: .running)
        == ReconcileCase(
          stored: .paused,
          intent: .hold,
          task: .running,
          final: .foreign,
          partial: .longer,
          canContinue: canContinue
        )
    )
  }
}

extension DownloadRecord {
  /// A record that was just added.
  static func sample(url: String = "https://example.com/a", mirrors: [String] = []) -> Self {
    let moment = Date(timeIntervalSince1970: 1_700_000_000)
    return DownloadRecord(
      url: url,
      id: RecordIdentity.id(forURL: url),
      filename: "a",
      folder: "",
      root: RootName.standard,
      destination: "default/a",
      type: "",
      state: .waiting,
      intent: .run,
      tags: [],
      priority: 0,
      received: 0,
      expected: nil,
      entityTag: nil,
      lastModified: nil,
      resumeBlob: nil,
      mirrors: mirrors,
      expectedDigest: nil,
      verifiedDigest: nil,
      nextRetryAt: nil,
      createdAt: moment,
      updatedAt: moment,
      completedAt: nil,
      stamp: nil
    )
  }
}
