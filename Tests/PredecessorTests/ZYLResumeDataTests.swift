import DownloadStore
import DownloadSync
import Foundation
import ResumeData
import TestSupport
import TestTraits
import Testing

/// Requirements of ZYLDownloader for resume data, decided by the reconciliation rules.
///
/// `BackgroundResumeDataTests` tests them with an engine.
@Suite struct ZYLResumeDataTests {
  private let folder: TemporaryFolder
  private let record: DownloadRecord

  init() throws {
    folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path("store"))
    record = try store.addNow([DownloadRequest(url: "https://example.com/a.mp4")])[0].record
  }

  private func decide(
    _ record: DownloadRecord,
    _ task: ReconcileCase.LiveTask,
    hasFreeSlot: Bool = true
  ) -> ReconcileDecision {
    Reconciler.decide(
      ReconcileCase(
        record: record,
        files: FileInspection(final: .missing, partial: .missing),
        task: task,
        now: record.createdAt,
        hasFreeSlot: hasFreeSlot,
        policy: ReconcilePolicy(takesResumeData: true)
      )
    )
  }

  private func resumeData() throws -> Data {
    let draft = URLSessionResumeData.Draft(
      url: record.url,
      received: 3,
      file: .temporaryName("CFNetworkDownload_aaaaaa.tmp"),
      entityTag: "\"1\""
    )
    return Data(try URLSessionResumeData(draft, form: .keyedArchive).bytes)
  }

  @Test(.requirements("ZY32", "SC8"), arguments: [DownloadState.paused, .failedPermanent])
  func `the live task of a paused download is cancelled with resume data, not suspended`(
    state: DownloadState
  ) throws {
    var record = record
    record.state = state
    #expect(decide(record, .running).actions == [.cancelProducingResumeData])
    #expect(decide(record, .suspended).actions == [.cancelProducingResumeData])
  }

  @Test(.requirements("ZY32"))
  func `a live task without a free slot is cancelled with resume data`() throws {
    #expect(decide(record, .running, hasFreeSlot: false).actions == [.cancelProducingResumeData])
  }

  @Test(
    .requirements("ZY33", "ZY34", "ZY35", "FK32", "SC10"),
    arguments: [DownloadState.running, .paused, .waiting]
  )
  func `the resume data of a failed task is stored`(
    state: DownloadState
  ) throws {
    var record = record
    record.state = state
    let decision = decide(record, .errResume)
    #expect(decision.actions == [.storeResumeData])
    if state == .paused { #expect(decision.result == .state(.paused)) }
  }

  @Test(.requirements("ZY34", "ZY46", "SC4", "SC10"))
  func `stored resume data is kept and used when the task leaves none`() throws {
    var record = record
    record.resumeData = try resumeData()
    record.state = .running
    // The task left no resume data: the stored data is neither dropped nor replaced.
    #expect(!decide(record, .errNoResume).actions.contains(.dropResumeData))
    record.state = .waiting
    #expect(decide(record, .none).plan?.source == .resumeData)
  }

  @Test(.requirements("ZY30"))
  func `a transport without resume data continues from the partial file`() throws {
    var record = record
    record.resumeData = try resumeData()
    record.received = 40
    record.entityTag = "\"1\""
    let decision = Reconciler.decide(
      ReconcileCase(
        record: record,
        files: FileInspection(final: .missing, partial: .equal, partialSize: 40),
        now: record.createdAt
      )
    )
    #expect(decision.plan?.source == .range)
    #expect(decision.plan?.actions == [])
  }
}
