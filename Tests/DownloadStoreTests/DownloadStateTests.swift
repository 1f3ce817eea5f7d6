import DownloadStore
import TestTraits
import Testing

@Suite struct DownloadStateTests {
  @Test func `every displayed word names its states, and every displayed state has one word`() {
    #expect(DownloadState.states(named: "failed") == [.failedRetryable, .failedPermanent])
    #expect(DownloadState.states(named: "removed") == [])
    #expect(DownloadState.states(named: "failedPermanent") == [])
    #expect(DownloadState.states(named: "") == [])
    for word in DownloadState.words {
      let states = DownloadState.states(named: word)
      #expect(!states.isEmpty)
      #expect(states.allSatisfy { $0.word == word })
    }
    let shown = DownloadState.words.flatMap(DownloadState.states(named:))
    #expect(Set(shown) == Set(DownloadState.allCases).subtracting([.removed]))
    #expect(shown.count == DownloadState.allCases.count - 1)
  }

  @Test(.requirements("ZY7", "FK11", "SC2"))
  func `the stored raw values of states and intents never change`() {
    #expect(
      DownloadState.allCases.map(\.rawValue) == [
        "waiting", "running", "paused", "failedRetryable", "failedPermanent", "finalizing",
        "completed", "cancelled", "removed",
      ]
    )
    #expect(DownloadIntent.allCases.map(\.rawValue) == ["run", "pause", "cancel", "remove"])
  }

  @Test func `the stored raw values of failure codes never change`() {
    #expect(
      DownloadFailure.Code.allCases.map(\.rawValue) == [
        "timedOut", "cannotConnect", "cannotFindHost", "connectionLost", "insecure", "badResponse",
        "badRedirect", "unsupportedURL", "refused", "needsURL", "notFound", "rejected",
        "serverBusy", "wrongLength", "entityChanged", "unexpectedCoding", "digestMismatch",
        "pieceMismatch", "diskFull", "fileSystem", "fileInUse", "quarantined", "interceptorFailed",
        "outOfResources", "fileUnavailable", "unknown",
      ]
    )
  }

  @Test func `the active states are those that a launch examines`() {
    #expect(
      Set(DownloadState.allCases).subtracting(DownloadState.active) == [
        .paused, .failedPermanent, .completed, .cancelled,
      ]
    )
  }
}
