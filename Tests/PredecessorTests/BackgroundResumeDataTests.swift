import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import ResumeData
import TestSupport
import TestTraits
import Testing

/// Resume data of a simulated background session: kept, repaired, or dropped.
@Suite struct BackgroundResumeDataTests {
  private let fixture: BackgroundFixture

  init() throws {
    fixture = try BackgroundFixture()
  }

  @Test(.requirements("ZY36", "SC11"))
  func `a background launch without a network keeps the resume data`() async throws {
    try await pauseWithResumeData()
    let blob = try fixture.record().resumeData
    fixture.session.leavesResumeData = false
    let offline = DownloadFailure(.cannotFindHost, "there is no network")
    fixture.session.network.interrupt(fixture.url("a"), afterBytes: -1, with: offline)
    try fixture.store.apply(.resume(immediately: false), to: .all)
    try await fixture.running(try fixture.engine(retry: .late)) {
      fixture.finish(try await fixture.task(2))
      try await waitUntil("the failure") { try fixture.record().attempts.count == 1 }
      #expect(try fixture.record().resumeData == blob)
    }
  }

  @Test(.requirements("ZY34", "ZY39", "ZY46"))
  func `resume data whose temporary file is missing is dropped and the download restarts`()
    async throws
  {
    try await pauseWithResumeData()
    for name in try fixture.sessionFiles() {
      try FileManager.default.removeItem(atPath: fixture.folder.path("session/\(name)"))
    }
    try fixture.store.apply(.resume(immediately: false), to: .all)
    try await fixture.running(try fixture.engine()) {
      // The second task fails to start.
      let third = try await fixture.task(3)
      #expect(fixture.session.requests.map { $0.resumeData != nil } == [false, true, false])
      #expect(try fixture.record().resumeData == nil)
      fixture.finish(third)
      try await fixture.reached(.completed)
    }
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(
    .requirements("ZY47", "ZY48", "ZY52", "FK33"),
    arguments: [URLSessionResumeData.Consumer.iOS10, .iOS11]
  )
  func `resume data is repaired for the system version that resumes it`(
    system: URLSessionResumeData.Consumer
  ) async throws {
    let fixture = try BackgroundFixture(system: system)
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      fixture.receive(400, try await fixture.task(1))
    }
    // A newer system may have written the resume data.
    let stored = try #require(try fixture.resumeData())
    let newer = try stored.converted(to: .keyedArchive)
    #expect(try newer.needsRepair(for: system))
    try fixture.store.objects.writeNow { [url = fixture.url("a")] tx in
      _ = try tx.update(DownloadRecord.self, key: url) { $0.resumeData = Data(newer.bytes) }
    }
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(2))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests.map(\.offset) == [0, 400])
    #expect(try fixture.record().attempts.isEmpty)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test func `unreadable resume data is dropped and the download restarts`() async throws {
    try fixture.add("a")
    try fixture.store.apply(.pause, to: .all)
    // The rules, which do not read the requests, accept this resume data; the system does not.
    let draft = URLSessionResumeData.Draft(
      url: fixture.url("a"),
      received: 400,
      file: .temporaryName("CFNetworkDownload_gone00.tmp"),
      entityTag: "\"1\""
    )
    let blob = Data(try URLSessionResumeData(draft, form: .xml).bytes)
    try fixture.store.objects.writeNow { [url = fixture.url("a")] tx in
      _ = try tx.update(DownloadRecord.self, key: url) { $0.resumeData = blob }
    }
    try fixture.store.apply(.resume(immediately: false), to: .all)
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(2))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.requests.map { $0.resumeData != nil } == [true, false])
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("SC4"), arguments: [200, 416])
  func `a resource that changed on the server is downloaded again from the first byte`(
    status: Int
  ) async throws {
    try await pauseWithResumeData()
    let new = SimulatedBody(seed: 8, byteCount: status == 200 ? 900 : 300)
    var resource = SimulatedResource(new, entityTag: "\"2\"")
    // A server that ignores the validator is detected because its file is too short.
    resource.heedsIfRange = status == 200
    fixture.session.network.serve(resource, at: fixture.url("a"))
    try fixture.store.apply(.resume(immediately: false), to: .all)
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(2))
      if status == 416 { fixture.finish(try await fixture.task(3)) }
      try await fixture.reached(.completed)
    }
    #expect(new.matches(try fixture.file()))
  }

  /// Pauses a download after 400 bytes, with stored resume data.
  private func pauseWithResumeData() async throws {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      let first = try await fixture.task(1)
      fixture.receive(400, first)
      try fixture.store.apply(.pause, to: .all)
      try await fixture.endCancelled(first)
      try await waitUntil("resume data") { try fixture.record().resumeData != nil }
    }
  }
}
