import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct TransferResultTests {
  private func code(_ result: TransferResult) -> String {
    switch result {
    case .complete: "complete"
    case .cancelled: "cancelled"
    case .startOver(let failure): "start over: \(failure.code)"
    case .failed(let failure, _): "failed: \(failure.code)"
    }
  }

  @Test(
    arguments: [
      (10, 10, "complete"), (0, 0, "complete"), (7, nil, "complete"),
      (9, 10, "failed: wrongLength"), (11, 10, "failed: wrongLength"),
      (0, 10, "failed: wrongLength"),
      (5, 0, "failed: wrongLength"),
    ] as [(Int64, Int64?, String)]
  )
  func `a body is complete if it has the announced length`(
    position: Int64,
    total: Int64?,
    result: String
  ) {
    #expect(
      code(TransferResult(.completed, finding: nil, position: position, total: total)) == result
    )
  }

  @Test func `a cancelled or failed transfer is not complete, whatever its length`() {
    #expect(
      TransferResult(.cancelled, finding: nil, position: 10, total: 10) == .cancelled
    )
    let failure = DownloadFailure(.connectionLost, "gone")
    #expect(
      TransferResult(.failed(failure), finding: nil, position: 10, total: 10)
        == .failed(DownloadFailure(.connectionLost, "gone"), retryAfter: nil)
    )
  }

  @Test func `a failure found by the sink overrides the task's outcome`() {
    let findings: [TransferResult] = [
      .complete, .cancelled, .startOver(DownloadFailure(.entityChanged, "")),
      .failed(DownloadFailure(.refused, ""), retryAfter: .seconds(1)),
    ]
    let outcomes: [TaskOutcome] = [
      .completed, .cancelled, .failed(DownloadFailure(.timedOut, "")),
    ]
    for finding in findings {
      for outcome in outcomes {
        #expect(TransferResult(outcome, finding: finding, position: 1, total: 2) == finding)
      }
    }
  }

  @Test func `a transport cannot report a failure that only the engine can determine`() {
    let reportable: Set<DownloadFailure.Code> = [
      .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .insecure, .badResponse,
      .badRedirect, .unsupportedURL, .outOfResources, .unknown,
    ]
    for code in DownloadFailure.Code.allCases {
      let expected = DownloadFailure(reportable.contains(code) ? code : .unknown, "no")
      #expect(
        TransferResult(
          .failed(DownloadFailure(code, "no")),
          finding: nil,
          position: 1,
          total: nil
        ) == .failed(expected, retryAfter: nil)
      )
    }
  }
}
