import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import TestSupport
import TestTraits
import Testing

/// The transport's copies of the temporary files of a simulated background session.
@Suite struct BackgroundFileCopyTests {
  @Test(.requirements("ZY39", "ZY40", "ZY41", "ZY43", "ZY44", "ZY45"))
  func `after a lost connection the download continues from the copied temporary file`()
    async throws
  {
    let fixture = try BackgroundFixture(copyInterval: 100)
    try fixture.add("a")
    let lost = DownloadFailure(.connectionLost, "no resume data")
    try await fixture.running(try fixture.engine()) {
      let first = try await fixture.task(1)
      fixture.receive(50, first)
      // The transport asks the task for resume data and continues from it, to learn the file's
      // name. The engine is not involved.
      fixture.session.advance(first)
      #expect(fixture.session.network.requests.map(\.offset) == [0, 50])
      #expect(fixture.session.requests.count == 1)
      #expect(try fixture.record().attempts.isEmpty)
      fixture.session.advance(first)
      for _ in 0..<6 { fixture.session.advance(first, atMost: 100) }
      fixture.session.leavesResumeData = false
      fixture.session.network.end(
        try #require(fixture.session.network.tasks.first?.id),
        .failed(lost)
      )
      let second = try await fixture.task(2)
      #expect(fixture.session.network.requests.map(\.offset) == [0, 50, 650])
      fixture.finish(second)
      try await fixture.reached(.completed)
    }
    #expect(try fixture.record().attempts.map(\.failure.code) == [.connectionLost])
    #expect(fixture.body.matches(try fixture.file()))
    #expect(try fixture.sessionFiles().isEmpty)
    #expect(try fixture.folder.names(in: "session-copies").isEmpty)
  }

  @Test(.requirements("ZY34", "ZY36", "ZY40", "ZY45"), arguments: [true, false])
  func `a connection lost without the app costs none of the copied bytes`(
    isOfflineAtLaunch: Bool
  ) async throws {
    let fixture = try BackgroundFixture(copyInterval: 100)
    try fixture.add("a")
    let task = try fixture.leave(0, as: .running)
    // The app runs until 650 bytes have arrived: it asks for resume data and copies the file.
    _ = await fixture.session.liveTasks()
    for _ in 0..<3 { fixture.session.advance(task, atMost: 50) }
    for _ in 0..<6 { fixture.session.advance(task, atMost: 100) }
    let copied = 650 as Int64
    #expect(fixture.session.tasks.map(\.bytesReceived) == [copied])
    fixture.session.crash()
    fixture.session.leavesResumeData = false
    let lost = DownloadFailure(.connectionLost, "no resume data")
    fixture.session.network.end(
      try #require(fixture.session.network.tasks.first?.id),
      .failed(lost)
    )
    #expect(try fixture.sessionFiles().isEmpty)
    if isOfflineAtLaunch {
      let offline = DownloadFailure(.cannotFindHost, "there is no network")
      fixture.session.network.interrupt(fixture.url("a"), afterBytes: -1, with: offline)
    }
    try await fixture.running(try fixture.engine()) {
      let number = isOfflineAtLaunch ? 3 : 2 as UInt64
      if isOfflineAtLaunch { fixture.finish(try await fixture.task(2)) }
      fixture.finish(try await fixture.task(number))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests.dropFirst(2).allSatisfy { $0.offset == copied })
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test func `copies of a removed download are deleted at the next launch`() async throws {
    let fixture = try BackgroundFixture(copyInterval: 100)
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      let first = try await fixture.task(1)
      fixture.receive(50, first)
      for _ in 0..<6 { fixture.session.advance(first, atMost: 100) }
    }
    #expect(try !fixture.folder.names(in: "session-copies").isEmpty)
    try fixture.store.apply(.remove(withFile: false), to: .all)
    try await fixture.running(try fixture.engine()) {
      try await waitUntil("the copies to be deleted") {
        try fixture.folder.names(in: "session-copies").isEmpty
      }
    }
  }
}
