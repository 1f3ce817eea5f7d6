import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct TransferResultTests {
  private func code(_ result: TransferResult) -> String {
    switch result {
    case .complete: "complete"
    case .notModified: "not modified"
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

  @Test func `a transfer that the engine ends has not failed, one that the system ends has`() {
    let failed = TransferResult.failed(DownloadFailure(.timedOut, ""), retryAfter: nil)
    let restart = TransferResult.startOver(DownloadFailure(.entityChanged, ""))
    for hasFinding in [false, true] {
      for result in [.complete, .cancelled, failed, restart] as [TransferResult] {
        let ended = result.concerning(isEnding: true, hasFinding: hasFinding)
        #expect(ended == (result.isFailure ? .cancelled : result))
        let other = result.concerning(isEnding: false, hasFinding: hasFinding)
        let endedBySystem = TransferResult.failed(.endedBySystem, retryAfter: nil)
        #expect(other == (result == .cancelled && !hasFinding ? endedBySystem : result))
      }
    }
    #expect(TransferResult.cancelled.failure == .endedBySystem)
    #expect(TransferResult.complete.failure == nil)
  }

  @Test(arguments: DownloadFailure.Code.allCases)
  func `a shortage explains only what it may have caused`(code: DownloadFailure.Code) {
    let failure = DownloadFailure(code, "no")
    let maybe: Set<DownloadFailure.Code> = [.cannotConnect, .cannotFindHost, .unknown]
    #expect(failure.attributed(toShortage: false) == failure)
    let attributed = failure.attributed(toShortage: true)
    #expect(attributed.code == (maybe.contains(code) ? .outOfResources : code))
    #expect(attributed.message.hasSuffix("no"))
  }
}
