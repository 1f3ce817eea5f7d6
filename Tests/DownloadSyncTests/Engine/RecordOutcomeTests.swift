import Foundation
import Testing

@testable import DownloadStore
@testable import DownloadSync

@Suite struct RecordOutcomeTests {
  @Test func `a refusal asks for a new URL only after the server has sent bytes`() {
    var record = DownloadRecord.sample()
    let refusal = DownloadFailure(.refused, "the server denies access (403 Forbidden)")
    #expect(refusal.afterProgress(of: record) == refusal)
    // Another program may have begun the file.
    record.received = 1
    #expect(refusal.afterProgress(of: record) == refusal)
    record.entityTag = "\"1\""
    #expect(refusal.afterProgress(of: record).code == .needsURL)
    let login = DownloadFailure(.refused, "401", detail: .login).afterProgress(of: record)
    #expect(login.code == .needsURL && login.detail == .login)
    let other = DownloadFailure(.notFound, "the server has no such file (404 Not Found)")
    #expect(other.afterProgress(of: record) == other)
  }
}
