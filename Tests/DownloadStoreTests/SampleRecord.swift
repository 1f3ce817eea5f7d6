import Foundation

@testable import DownloadStore

extension DownloadRecord {
  /// Returns a record of 100 bytes in the given state, with values that a transition may clear.
  static func sample(
    _ state: DownloadState,
    _ intent: DownloadIntent,
    received: Int64 = 40
  ) -> DownloadRecord {
    DownloadRecord(
      url: "https://example.com/a",
      id: RecordIdentity.id(forURL: "https://example.com/a"),
      filename: "a",
      folder: "",
      root: RootName.standard,
      destination: "default/a",
      type: "",
      state: state,
      intent: intent,
      tags: ["t"],
      priority: 1,
      received: received,
      expected: 100,
      entityTag: "\"1\"",
      lastModified: "y",
      resumeData: Data([1]),
      mirrors: [],
      expectedDigest: nil,
      verifiedDigest: nil,
      createdAt: Date(timeIntervalSince1970: 1),
      updatedAt: Date(timeIntervalSince1970: 2)
    )
  }
}
