import DownloadStore
import DownloadSync
import Foundation
import ResumeData
import TestSupport
import Testing

/// How ZYLDownloader pauses and goes on over a background session, decided by our rules.
///
/// The session is a model: what is tested is what the rules do with what it hands over.
@Suite struct ZYLResumeDataTests {
  private let session: AppleSession
  private let folder: TemporaryFolder
  private let store: DownloadStore

  init() throws {
    session = try AppleSession()
    folder = try TemporaryFolder()
    store = try DownloadStore(at: folder.path("store"))
  }

  private func add() throws -> DownloadRecord {
    try store.add([DownloadRequest(url: "https://example.com/a.mp4")])[0].record
  }

  private func decide(
    _ record: DownloadRecord,
    _ task: ReconcileCase.LiveTask,
    hasFreeSlot: Bool = true
  ) -> ReconcileDecision {
    Reconciler.decide(
      ReconcileCase(
        record: record,
        files: FileFacts(final: .missing, partial: .missing),
        task: task,
        blob: session.blob(of: record),
        now: record.createdAt,
        hasFreeSlot: hasFreeSlot,
        takesBlobs: true
      )
    )
  }

  /// Goes on as the plan says, and gives what is delivered.
  private func goOn(_ record: inout DownloadRecord) throws -> String {
    let plan = try #require(decide(record, .none).plan)
    #expect(plan.source == .blob)
    try session.start(record, from: record.resumeBlob.map(Array.init))
    record.resumeBlob = nil
    try session.receive("def", record)
    return try session.finish(record)
  }

  @Test(arguments: [DownloadState.paused, .failedPermanent])
  func `ZY32 SC8 a live task of what is held ends with resume data and is not suspended`(
    state: DownloadState
  ) throws {
    var record = try add()
    record.state = state
    #expect(decide(record, .running).actions == [.cancelProducingBlob])
    #expect(decide(record, .suspended).actions == [.cancelProducingBlob])
  }

  @Test func `ZY32 a task without a slot ends with resume data`() throws {
    let record = try add()
    #expect(decide(record, .running, hasFreeSlot: false).actions == [.cancelProducingBlob])
  }

  @Test func `ZY31 ZY33 ZY35 what is paused goes on from the resume data of its task`() throws {
    var record = try add()
    try session.start(record)
    try session.receive("abc", record)
    record = record.granting(.pause)
    record.resumeBlob = try session.end(record)
    let name = try ResumeData(Array(try #require(record.resumeBlob))).temporaryFileName
    #expect(name?.hasPrefix("CFNetworkDownload_") == true && name?.hasSuffix(".tmp") == true)
    // Nothing goes on by itself.
    #expect(decide(record, .none).plan == nil)
    record = record.granting(.resume(atOnce: false))
    #expect(try goOn(&record) == "abcdef")
  }

  @Test(arguments: [DownloadState.running, .paused, .waiting])
  func `ZY33 ZY34 ZY35 FK32 SC10 what a relaunch hands over is stored and goes on`(
    state: DownloadState
  ) throws {
    var record = try add()
    try session.start(record)
    try session.receive("abc", record)
    record.state = state
    // The application was killed. Its session is made again and says how the task ended.
    let blob = try session.end(record)
    let decision = decide(record, .errResume)
    #expect(decision.actions == [.storeBlob])
    if state == .paused { #expect(decision.result == .state(.paused)) }
    record.resumeBlob = blob
    record = record.granting(.pause).granting(.resume(atOnce: false))
    #expect(try goOn(&record) == "abcdef")
  }

  @Test func `ZY34 ZY46 SC4 SC10 where a task leaves nothing, what was stored before is used`()
    throws
  {
    var record = try add()
    try session.start(record)
    try session.receive("abc", record)
    record.resumeBlob = try session.end(record)
    record.state = .running
    // No word of it: it is neither dropped nor made anew.
    let decision = decide(record, .errNoResume)
    #expect(!decision.actions.contains(.dropBlob))
    record.state = .waiting
    #expect(try goOn(&record) == "abcdef")
  }

  @Test func `ZY39 ZY40 ZY41 ZY44 ZY45 a lost network costs nothing that our copy has`() throws {
    var record = try add()
    try session.start(record)
    // Resume data is taken once, at the first bytes, and the download goes on from it.
    try session.receive("a", record)
    let first = try session.end(record)
    try session.start(record, from: Array(first))
    try session.receive("bcd", record)
    let copy = "abc"
    try session.lose(record)
    record.resumeBlob = first
    #expect(session.blob(of: record) == .tempMissing)
    // Its count alone changes, and the copy takes the place of the file.
    let data = try ResumeData(Array(first)).settingReceived(Int64(copy.utf8.count))
    record.resumeBlob = Data(data.bytes)
    try session.restore(copy, for: first)
    #expect(session.blob(of: record) == .valid)
    #expect(try goOn(&record) == "abcdef")
  }

  @Test func `ZY39 without a file and without a copy it begins at the first byte`() throws {
    var record = try add()
    try session.start(record)
    try session.receive("abc", record)
    record.resumeBlob = try session.end(record)
    try session.start(record, from: record.resumeBlob.map(Array.init))
    try session.lose(record)
    let plan = try #require(decide(record, .none).plan)
    #expect(plan.source == .zero)
    #expect(plan.actions == [.dropBlob])
  }

  @Test func `ZY30 a transport without resume data goes on with the partial file and keeps it`()
    throws
  {
    var record = try add()
    try session.start(record)
    record.resumeBlob = try session.end(record)
    record.received = 40
    record.entityTag = "\"1\""
    let decision = Reconciler.decide(
      ReconcileCase(
        record: record,
        files: FileFacts(final: .missing, partial: .equal, partialSize: 40),
        now: record.createdAt
      )
    )
    #expect(decision.plan?.source == .range)
    #expect(decision.plan?.actions == [])
  }
}
