import Foundation
import Testing

@testable import DownloadStore
@testable import DownloadSync

@Suite struct RecordOutcomeTests {
  @Test func `a refusal asks for a new URL only after the server has sent bytes`() {
    var record = DownloadRecord.sample()
    let refusal = DownloadFailure(.refused, "the server denies access (403 Forbidden)")
    #expect(refusal.afterProgress(of: record) == refusal)
    record.received = 1
    #expect(refusal.afterProgress(of: record).code == .needsURL)
    let other = DownloadFailure(.notFound, "the server has no such file (404 Not Found)")
    #expect(other.afterProgress(of: record) == other)
  }
}
