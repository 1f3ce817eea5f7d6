import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct PartEndTests {
  private func end(
    _ result: TransferResult,
    hasProgressed: Bool = true,
    isFirst: Bool = false,
    others: Int = 1,
    isComplete: Bool = false,
    isOfMirror: Bool = false,
    isReplaced: Bool = false
  ) -> PartEnd {
    PartEnd(
      result,
      hasProgressed: hasProgressed,
      isFirst: isFirst,
      others: others,
      isComplete: isComplete,
      isOfMirror: isOfMirror,
      isReplaced: isReplaced
    )
  }

  private func failure(_ code: DownloadFailure.Code) -> TransferResult {
    .failed(DownloadFailure(code, ""), retryAfter: nil)
  }

  @Test func `the end of a part leaves the rest to the others, or starts the next one`() {
    #expect(end(.complete) == .leaveRest(isRefused: false))
    #expect(end(.complete, others: 0) == .startNext(isRefused: false))
    #expect(end(.cancelled) == .leaveRest(isRefused: false))
    #expect(end(.cancelled, others: 0) == .endAll(.cancelled, isSplittable: true))
  }

  @Test func `a complete file ends the transfer`() {
    for others in 0...1 {
      #expect(
        end(.complete, others: others, isComplete: true) == .endAll(.complete, isSplittable: true)
      )
    }
  }

  @Test func `a file that could not be written is not complete`() {
    let result = failure(.fileSystem)
    #expect(end(result, others: 0, isComplete: true) == .endAll(result, isSplittable: false))
  }

  @Test(arguments: DownloadFailure.Code.allCases)
  func `a failure ends one connection or all`(code: DownloadFailure.Code) {
    let result = failure(code)
    switch code {
    case .serverBusy, .refused, .notFound, .rejected:
      #expect(end(result) == .leaveRest(isRefused: true))
      #expect(end(result, others: 0) == .endAll(result, isSplittable: true))
    case .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .outOfResources,
      .wrongLength, .unknown:
      #expect(end(result) == .leaveRest(isRefused: false))
      #expect(end(result, hasProgressed: false) == .leaveRest(isRefused: true))
      #expect(end(result, others: 0) == .endAll(result, isSplittable: true))
    case .pieceMismatch, .digestMismatch, .diskFull, .fileSystem, .fileInUse, .fileUnavailable,
      .quarantined, .tooLarge:
      #expect(end(result) == .endAll(result, isSplittable: false))
    default:
      // No answer to a further connection ends those that run.
      #expect(end(result) == .leaveRest(isRefused: true, isSplittable: false))
      #expect(end(result, others: 0) == .endAll(result, isSplittable: false))
    }
  }

  @Test(arguments: DownloadFailure.Code.allCases)
  func `a failure of a mirror leaves its rest to the other servers`(code: DownloadFailure.Code) {
    let result = failure(code)
    let isOfConnection = end(result) == .leaveRest(isRefused: false)
    guard !code.traits.contains(.local) || isOfConnection else {
      #expect(end(result, isOfMirror: true) == end(result))
      return
    }
    if !code.traits.contains(.local) {
      #expect(end(result, isOfMirror: true) == .leaveRest(isRefused: !isOfConnection))
      #expect(end(result, hasProgressed: false, isOfMirror: true) == .leaveRest(isRefused: true))
      #expect(
        end(result, others: 0, isOfMirror: true) == .startNext(isRefused: !isOfConnection)
      )
    }
  }

  @Test func `the rest of a connection that the engine ends is fetched by another one`() {
    #expect(end(.cancelled, isReplaced: true) == .leaveRest(isRefused: false))
    #expect(end(.cancelled, others: 0, isReplaced: true) == .startNext(isRefused: false))
  }

  @Test func `another version of the file ends a further connection, or the last one`() {
    let result = TransferResult.startOver(DownloadFailure(.entityChanged, ""))
    #expect(end(result) == .leaveRest(isRefused: true, isSplittable: false))
    #expect(end(result, others: 0) == .endAll(result, isSplittable: false))
    #expect(end(result, isFirst: true) == .endAll(result, isSplittable: false))
  }
}
