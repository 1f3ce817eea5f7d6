import DownloadStore
import TestTraits
import Testing

@Suite struct DownloadStateTests {
  @Test func `every displayed word names its states, and every displayed state has one word`() {
    for engineRuns in [true, false] {
      func states(_ word: String) -> [DownloadState] {
        DownloadState.states(named: word, engineRuns: engineRuns)
      }
      #expect(states("failed") == [.failedPermanent] && states("retrying") == [.failedRetryable])
      for word in ["removed", "failedPermanent", ""] { #expect(states(word) == []) }
      for word in DownloadState.words {
        #expect(states(word).isEmpty == (word == "running" && !engineRuns))
        #expect(states(word).allSatisfy { $0.word(engineRuns: engineRuns) == word })
      }
      let shown = DownloadState.words.flatMap(states)
      #expect(Set(shown) == Set(DownloadState.allCases).subtracting([.removed]))
      #expect(shown.count == DownloadState.allCases.count - 1)
    }
  }

  @Test func `without an engine, a download that was running waits for the next one`() {
    #expect(DownloadState.states(named: "waiting", engineRuns: false) == [.waiting, .running])
    #expect(DownloadState.running.text(engineRuns: false) == "waiting (its engine has ended)")
    for state in DownloadState.allCases where state != .running {
      #expect(state.word(engineRuns: false) == state.word(engineRuns: true))
      #expect(state.text(engineRuns: false) == state.word(engineRuns: false))
    }
    for state in DownloadState.allCases {
      #expect(state.text(engineRuns: true) == state.word(engineRuns: true))
    }
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
        "tooLarge", "outOfResources", "fileUnavailable", "unknown",
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
