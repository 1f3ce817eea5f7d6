import DownloadStore
import Foundation
import ResumeData
import Testing

@testable import DownloadSync

@Suite struct ReconcileCaseTests {
  private let files = FileInspection(final: .mismatch, partial: .longer, partialSize: 5)
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  @Test(
    arguments: [
      (nil, nil, nil, false),
      ("\"x\"", nil, nil, true),
      ("W/\"x\"", nil, nil, false),
      (nil, "Sun, 06 Nov 1994 08:49:37 GMT", nil, true),
      (nil, "", nil, false),
      (nil, nil, "sha256:aa", true),
    ] as [(String?, String?, String?, Bool)]
  )
  func `bytes are resumed with a validator or an expected digest`(
    entityTag: String?,
    lastModified: String?,
    digest: String?,
    canContinue: Bool
  ) {
    var record = DownloadRecord.sample()
    record.entityTag = entityTag
    record.lastModified = lastModified
    record.expectedDigest = digest
    #expect(
      ReconcileCase(record: record, files: files, task: .running, now: now)
        == ReconcileCase(
          stored: .waiting,
          task: .running,
          final: .mismatch,
          partial: .longer,
          conditions: ReconcileCase.Conditions(takesResumeData: false, canContinue: canContinue)
        )
    )
  }

  @Test(arguments: [(299, false), (301, true)] as [(Double, Bool)])
  func `a retry date beyond the longest delay is due, because the clock was set back`(
    wait: Double,
    isDue: Bool
  ) {
    var record = DownloadRecord.sample()
    record.nextRetryAt = now.addingTimeInterval(wait)
    let policy = ReconcilePolicy(retry: RetryPolicy(cap: .seconds(300)))
    let given = ReconcileCase(record: record, files: files, now: now, policy: policy)
    #expect(given.conditions.isRetryDue == isDue)
  }

  @Test(
    arguments: [
      (3_600, 3_600, false), (3_600, 3_599, false), (3_600, 3_601, true), (100, 299, false),
      (90_000, 86_401, true),
    ] as [(Double, Double, Bool)]
  )
  func `a retry that a server has put off is due at its date`(
    asked: Double,
    left: Double,
    isDue: Bool
  ) {
    var record = DownloadRecord.sample()
    let date = now.addingTimeInterval(left)
    record.nextRetryAt = date
    record.attempts = [
      Attempt(
        at: date.addingTimeInterval(-asked),
        url: record.url,
        failure: DownloadFailure(.serverBusy, ""),
        received: 0
      )
    ]
    let policy = ReconcilePolicy(retry: RetryPolicy(cap: .seconds(300)))
    let given = ReconcileCase(record: record, files: files, now: now, policy: policy)
    #expect(given.conditions.isRetryDue == isDue)
  }

  @Test func `a policy allows resuming without a validator`() {
    var record = DownloadRecord.sample()
    record.entityTag = nil
    record.lastModified = nil
    record.expectedDigest = nil
    let policy = ReconcilePolicy(continuesUnvalidated: true)
    #expect(!ReconcileCase(record: record, files: files, now: now).conditions.canContinue)
    #expect(
      ReconcileCase(record: record, files: files, now: now, policy: policy).conditions.canContinue
    )
  }

  @Test(arguments: [(nil, true), (-1, true), (0, true), (1, false)] as [(Double?, Bool)])
  func `a retry is due from its date on`(wait: Double?, isDue: Bool) {
    var record = DownloadRecord.sample()
    record.nextRetryAt = wait.map { now.addingTimeInterval($0) }
    let given = ReconcileCase(record: record, files: files, now: now)
    #expect(given.conditions.isRetryDue == isDue)
  }

  @Test(
    arguments: [
      (nil, .none), ("", .corrupt), ("other", .corrupt), ("own", .valid), ("no count", .valid),
      ("other URL", .stale), ("other tag", .stale),
    ] as [(String?, ReconcileCase.ResumeDataStatus)]
  )
  func `resume data is valid if its URL and validators match the record`(
    kind: String?,
    resumeData: ReconcileCase.ResumeDataStatus
  ) throws {
    var record = DownloadRecord.sample()
    record.entityTag = "\"1\""
    let draft = URLSessionResumeData.Draft(
      url: kind == "other URL" ? "https://example.com/b" : record.url,
      received: 5,
      file: .temporaryName("CFNetworkDownload_aaaaaa.tmp"),
      entityTag: kind == "other tag" ? "\"2\"" : "\"1\""
    )
    let bytes = try URLSessionResumeData(draft, form: .xml).bytes
    let text = String(decoding: bytes, as: UTF8.self)
    record.resumeData =
      switch kind {
      case nil: nil
      case "": Data()
      case "other": Data([1])
      // The size of the file supplies the count, and the file is not examined here.
      case "no count": Data(try Self.withoutCount(text).utf8)
      default: Data(bytes)
      }
    #expect(ReconcileCase(record: record, files: files, now: now).resumeData == resumeData)
  }

  /// Returns the XML resume data without its received byte count.
  private static func withoutCount(_ text: String) throws -> String {
    let member = try Regex("<key>NSURLSessionResumeBytesReceived</key>\\s*<integer>5</integer>")
    try #require(text.contains(member))
    return text.replacing(member, with: "")
  }

  @Test(arguments: DownloadState.allCases, DownloadIntent.allCases)
  func `a command takes effect as soon as it is stored`(
    state: DownloadState,
    intent: DownloadIntent
  ) {
    var record = DownloadRecord.sample()
    record.state = state
    record.intent = intent
    let stored = ReconcileCase(record: record, files: files, now: now).stored
    switch intent {
    case .remove: #expect(stored == .removed)
    case .cancel: #expect(stored == (state == .removed ? .removed : .cancelled))
    case .run: #expect(stored.state == state)
    case .pause:
      let isAtRest = [.completed, .failedPermanent, .cancelled, .removed].contains(state)
      #expect(stored.state == (isAtRest ? state : .paused))
    }
  }

  @Test(arguments: FileInspection.Partial.allCases, ReconcileCase.LiveTask.allCases)
  func `the rename of a paused download is redone if every byte is on disk`(
    partial: FileInspection.Partial,
    task: ReconcileCase.LiveTask
  ) {
    var record = DownloadRecord.sample()
    record.state = .finalizing
    record.intent = .pause
    let files = FileInspection(final: .missing, partial: partial)
    let given = ReconcileCase(record: record, files: files, task: task, now: now)
    let isThere = partial == .complete || task == .doneOK || task == .dupDoneRunning
    #expect(given.stored == (isThere ? .finalizing : .paused))
    let decision = Reconciler.decide(given)
    #expect(decision.plan == nil)
    #expect(decision.result == .placed || decision.result.states == [.paused])
  }

  @Test(arguments: [nil, "sha256:aa"], [true, false])
  func `a partial file with a second name counts as changed, whatever digests there are`(
    digest: String?,
    hasPieceDigests: Bool
  ) {
    var record = DownloadRecord.sample()
    record.expectedDigest = digest
    record.hasPieceDigests = hasPieceDigests
    let files = FileInspection(final: .missing, partial: .complete, isPartialShared: true)
    let given = ReconcileCase(record: record, files: files, now: now)
    #expect(given.conditions.isPartialChanged && !given.conditions.hasPieceDigests)
    #expect(Reconciler.decide(given).plan?.rules == [.p13])
  }

  @Test func `every stored case except none is a record's state`() {
    #expect(
      Set(ReconcileCase.Stored.allCases.compactMap(\.state)) == Set(DownloadState.allCases)
    )
    #expect(ReconcileCase.Stored.none.state == nil)
  }

  @Test(
    arguments: [
      (.complete, .doneOK), (.cancelled, .none),
      (.failed(DownloadFailure(.notFound, ""), retryAfter: nil), .doneBadStatus),
      (.failed(DownloadFailure(.serverBusy, ""), retryAfter: nil), .doneBadStatus),
      (.failed(DownloadFailure(.timedOut, ""), retryAfter: nil), .errNoResume),
      (.startOver(DownloadFailure(.entityChanged, "")), .errNoResume),
    ] as [(TransferResult, ReconcileCase.LiveTask)]
  )
  func `the result of an ended task selects its case`(
    result: TransferResult,
    task: ReconcileCase.LiveTask
  ) {
    #expect(ReconcileCase.LiveTask(result, leavesResumeData: false) == task)
  }

  @Test(
    arguments: [
      (.complete, .doneOK), (.cancelled, .errResume),
      (.failed(DownloadFailure(.notFound, ""), retryAfter: nil), .doneBadStatus),
      (.failed(DownloadFailure(.timedOut, ""), retryAfter: nil), .errResume),
      (.startOver(DownloadFailure(.entityChanged, "")), .errNoResume),
    ] as [(TransferResult, ReconcileCase.LiveTask)]
  )
  func `a failed task with resume data is distinguished from one without`(
    result: TransferResult,
    task: ReconcileCase.LiveTask
  ) {
    #expect(ReconcileCase.LiveTask(result, leavesResumeData: true) == task)
  }

  @Test(
    arguments: [
      ([], .none), ([.running], .running), ([.suspended], .suspended), ([.canceling], .canceling),
      ([.canceling, .canceling], .canceling), ([.running, .canceling], .running),
      ([.suspended, .canceling], .suspended), ([.running, .suspended], .dupRunning),
      ([.running, .running, .canceling], .dupRunning),
      // Whether it has delivered a file is known when it is adopted.
      ([.ended], .canceling), ([.ended, .canceling], .canceling),
      ([.ended, .running], .dupDoneRunning), ([.ended, .ended], .dupDoneRunning),
    ] as [([TaskSnapshot.State], ReconcileCase.LiveTask)]
  )
  func `several tasks of one record are reduced to one case`(
    states: [TaskSnapshot.State],
    task: ReconcileCase.LiveTask
  ) {
    let tasks = states.enumerated().map { number, state in
      TaskSnapshot(
        id: TaskID(rawValue: UInt64(number)),
        recordID: "a",
        bytesReceived: 0,
        state: state
      )
    }
    #expect(ReconcileCase.LiveTask(of: tasks) == task)
  }

  @Test func `of several tasks, an ended one wins, then the one with most bytes`() {
    func task(_ id: UInt64, _ bytes: Int64, _ state: TaskSnapshot.State) -> TaskSnapshot {
      TaskSnapshot(id: TaskID(rawValue: id), recordID: "a", bytesReceived: bytes, state: state)
    }
    let (less, more) = (task(1, 10, .running), task(2, 20, .suspended))
    #expect(TaskSnapshot.keeper(of: []) == nil)
    #expect(TaskSnapshot.keeper(of: [less, more]) == more)
    #expect(TaskSnapshot.keeper(of: [more, task(3, 0, .ended)])?.id.rawValue == 3)
    #expect(TaskSnapshot.keeper(of: [task(4, 10, .running), less]) == less)
  }
}
