import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

@Suite struct SystemCallFailureTests {
  private static let expected: [Int32: (SystemCallFailure, DownloadFailure.Code)] = [
    ENOSPC: (.diskFull, .diskFull), EDQUOT: (.diskFull, .diskFull),
    EMFILE: (.outOfResources, .outOfResources), ENFILE: (.outOfResources, .outOfResources),
    ENOMEM: (.outOfResources, .outOfResources), EAGAIN: (.outOfResources, .outOfResources),
    ENOBUFS: (.outOfResources, .outOfResources),
    ESTALE: (.fileUnavailable, .fileUnavailable), EBUSY: (.fileUnavailable, .fileUnavailable),
    EINTR: (.fileUnavailable, .fileUnavailable), ETIMEDOUT: (.fileUnavailable, .fileUnavailable),
  ]

  @Test func `every error number maps to one code, and temporary ones are retried`() {
    for code in 1...200 as ClosedRange<Int32> {
      let (meaning, downloadCode) = Self.expected[code] ?? (.permanent, .fileSystem)
      #expect(SystemCallFailure(errno: code) == meaning, "\(code)")
      let failure = PartialFile.Failure(code: code, operation: "opening x").asDownloadFailure
      #expect(failure.code == downloadCode, "\(code)")
      #expect(
        failure.code.isRetryable == (meaning == .outOfResources || meaning == .fileUnavailable)
      )
    }
  }

  @Test func `a message names the failed call and its error`() {
    let failure = PartialFile.Failure(code: EMFILE, operation: "opening x").asDownloadFailure
    #expect(failure.message == "opening x: Too many open files")
  }
}
