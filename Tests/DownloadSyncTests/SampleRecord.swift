import Foundation

@testable import DownloadStore

extension DownloadRecord {
  /// Returns a record that was just added.
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
      resumeData: nil,
      mirrors: mirrors,
      expectedDigest: nil,
      verifiedDigest: nil,
      nextRetryAt: nil,
      createdAt: moment,
      updatedAt: moment,
      completedAt: nil,
      fileIdentity: nil
    )
  }
}
