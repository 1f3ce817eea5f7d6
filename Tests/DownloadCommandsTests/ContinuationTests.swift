import CommandTestSupport
import DownloadReports
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The commands that messages name for downloads that are not complete.
struct ContinuationTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String
  private let url = "http://h/a"

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  @Test func `the command that is named lets a download go on from every position`() async throws {
    let added = try await RecordStore(at: store).add([DownloadRequest(url: url)])[0].record
    for status in DownloadStatus.all {
      for isHeld in [false, true] {
        var record = added
        (record.state, record.intent, record.isHeld) = (status.state, status.intent, isHeld)
        guard let continuation = record.continuation else {
          #expect(status.state == .completed)
          continue
        }
        var next = record
        switch continuation {
        case .engine: #expect(status.intent == .run && status.state.isProceeding)
        case .command(let command): _ = try next.apply(.command(command), at: .now)
        case .addition: _ = try next.apply(.addedAgain, at: .now)
        }
        #expect((next == record) == (continuation == .engine), "\(status) \(isHeld)")
        #expect(next.continuation == .engine, "\(status) \(isHeld)")
      }
    }
  }

  @Test(arguments: [
    (DownloadState.waiting, DownloadIntent.run, false, "run"),
    (.waiting, .run, true, "resume ID"), (.waiting, .cancel, false, "restart ID"),
    (.paused, .pause, false, "resume ID"), (.failedPermanent, .run, false, "resume ID"),
    (.cancelled, .cancel, false, "restart ID"),
  ])
  func `messages about a download that is not complete name the command`(
    state: DownloadState,
    intent: DownloadIntent,
    isHeld: Bool,
    words: String
  ) async throws {
    let added = try await RecordStore(at: store).add([DownloadRequest(url: url)])[0].record
    try change(url) { record in
      (record.state, record.intent, record.isHeld) = (state, intent, isHeld)
    }
    let command = "'dlstore \(words.replacing("ID", with: added.id)) --store \(store)'"
    let verified = await dlstore("--store", store, "verify-file", url)
    #expect(verified.status == .failed)
    #expect(verified.messages.contains(command), "\(verified.messages)")
    let refreshed = await dlstore("--store", store, "refresh", url)
    #expect(refreshed.status == .failed)
    #expect(
      refreshed.messages.contains("not refreshed: a: it is not complete; \(command) continues it"),
      "\(refreshed.messages)"
    )
  }
}
