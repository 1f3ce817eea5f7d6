import Foundation
import ObjectStore
import RecordTestSupport
import Testing

@testable import DownloadStore

/// The transitions of the engine, for every state and intent.
///
/// The commands have a suite of their own.
@Suite struct RecordTransitionTests {
  static let moment = Date(timeIntervalSince1970: 1_800_000_000)
  static let failure = DownloadFailure(.timedOut, "no answer")

  /// A record in every state with every intent, including combinations that do not occur.
  static let records: [DownloadRecord] = DownloadState.allCases.flatMap { state in
    DownloadIntent.allCases.map { record(state, $0) }
  }

  static func record(_ state: DownloadState, _ intent: DownloadIntent) -> DownloadRecord {
    var record = DownloadRecord.sample(state, intent)
    record.isHeld = true
    record.startsImmediately = true
    record.nextRetryAt = Date(timeIntervalSince1970: 3)
    record.failedAttempts = 2
    record.unresolvedStarts = 1
    record.generation = 7
    record.resolvedBytes = 40
    return record
  }

  /// The records that accept an event.
  static func records(for event: DownloadRecord.Event) -> [DownloadRecord] {
    records.filter { $0.accepts(event) }
  }

  static let failing = attempt(retryingAfter: .seconds(5))

  static func attempt(
    droppingBytes: Bool = false,
    marking hooks: Set<DownloadHook> = [],
    retryingAfter wait: Duration?
  ) -> DownloadRecord.Event {
    .attemptFailed(
      .init(failure, from: "u", droppingBytes: droppingBytes, marking: hooks) { _ in wait }
    )
  }

  static func unattended(
    after crash: CrashScope,
    maximumCrashes: Int32 = 3,
    isDue: Bool = true,
    marking hooks: Set<DownloadHook> = []
  ) -> DownloadRecord.Event {
    .unattended(
      .init(
        after: crash,
        maximumCrashes: maximumCrashes,
        source: "u",
        isDue: isDue,
        marking: hooks
      )
    )
  }

  private static let completing = DownloadRecord.Event.fileComplete(
    .init(FileIdentity(size: 100, inode: 1, modified: 1))
  )

  /// Each event with the state that it leads to from every state that accepts it.
  ///
  /// By intent: run, pause, cancel, remove; `-` if no state does.
  private static let table: [(name: String, states: String, event: DownloadRecord.Event)] = [
    ("start", "running - - -", .started(keepingBytes: true)),
    ("adopt", "running - - -", .taskAdopted()),
    ("continue", "running - - -", .transferContinued),
    ("interrupt", "waiting paused waiting waiting", .interrupted()),
    ("fail, retried", "failedRetryable paused - -", attempt(retryingAfter: .seconds(5))),
    ("fail, restarted", "waiting paused - -", attempt(droppingBytes: true, retryingAfter: .zero)),
    ("fail, given up", "failedPermanent failedPermanent - -", attempt(retryingAfter: nil)),
    ("defer", "waiting paused - -", .attemptDeferred(noting: failure, from: "u")),
    ("lose", "waiting paused - -", .fileLost),
    ("finalize", "finalizing finalizing - -", completing),
    ("complete", "completed completed - -", .completed()),
    ("finish a cancellation", "cancelled cancelled cancelled cancelled", .cancellationCarriedOut()),
  ]

  @Test(arguments: table.indices)
  func `an event leads from every state to the state of its row`(index: Int) throws {
    let row = Self.table[index]
    let expected = row.states.split(separator: " ").map(String.init)
    for (intent, state) in zip(DownloadIntent.allCases, expected) {
      let accepting = Self.records(for: row.event).filter { $0.intent == intent }
      #expect(accepting.isEmpty == (state == "-"), "\(row.name), \(intent)")
      for var record in accepting {
        let old = record
        record.take(row.event, at: Self.moment)
        #expect(record.state.rawValue == state, "\(row.name) from \(old.state)")
        #expect(record.intent == intent, "only commands change the intent")
        #expect(record.generation == old.generation + (row.name == "start" ? 1 : 0))
        #expect(record.attempts.count == (["fail", "defe"].contains(row.name.prefix(4)) ? 1 : 0))
      }
    }
  }

  @Test func `an event that does not apply is an error, and changes nothing`() {
    for var record in Self.records where !record.accepts(.interrupted()) {
      let old = record
      let error = #expect(throws: TransitionError.self) {
        try record.apply(.interrupted(isHeld: true, resumeData: Data([2])), at: Self.moment)
      }
      #expect(record == old && error?.expected == [.running])
      #expect(error?.description.contains("expected one that is running") == true)
    }
  }

  @Test func `an interrupted record keeps what its task has left`() {
    for var record in Self.records(for: .interrupted()) {
      let old = record
      record.take(.interrupted(isHeld: true, resumeData: Data([2])))
      #expect(record.isHeld && record.resumeData == Data([2]))
      var ended = old
      ended.isHeld = false
      ended.take(.interrupted())
      #expect(!ended.isHeld && ended.resumeData == Data([1]))
    }
  }

  @Test func `a start without its bytes drops them and their validators`() {
    for record in Self.records(for: .started(keepingBytes: false)) {
      var started = record
      started.take(.started(keepingBytes: false), at: Self.moment)
      #expect(started.received == 0 && started.entityTag == nil)
      #expect(started.nextRetryAt == nil && !started.startsImmediately)
    }
  }

  @Test func `only completion and commands that queue a download again uncount its crashes`() {
    for row in Self.table where row.name != "complete" && row.name != "adopt" {
      for var record in Self.records(for: row.event) {
        record.take(row.event, at: Self.moment)
        #expect(record.unresolvedStarts == 1, "\(row.name)")
      }
    }
    let failed = Self.record(.failedPermanent, .run)
    #expect(failed.applying(.resume(immediately: false)).unresolvedStarts == 0)
    #expect(failed.applying(.restart).unresolvedStarts == 0)
  }

  @Test func `a failure is counted and listed, and only a retry has a date`() {
    for record in Self.records(for: Self.failing) {
      var failed = record
      let wait = failed.fail(Self.failure, from: "u", at: Self.moment) { record in
        #expect(record.failedAttempts == 3, "the decision sees the failure")
        #expect(record.attempts.last?.failure == Self.failure)
        return .seconds(5)
      }
      #expect(wait == .seconds(5))
      let date = failed.state == .failedRetryable ? Self.moment.addingTimeInterval(5) : nil
      #expect(failed.nextRetryAt == date)
      #expect(failed.received == 40)
      var restarted = record
      _ = restarted.fail(Self.failure, from: "u", at: Self.moment, droppingBytes: true) { _ in nil }
      #expect(restarted.received == 0 && restarted.expected == nil && restarted.resumeData == nil)
      #expect(restarted.attempts.last?.received == 40, "the bytes that the attempt had")
    }
  }

  @Test func `the last failed attempts are kept`() {
    var record = Self.record(.running, .run)
    for number in 0..<40 {
      record.state = .running
      let failure = DownloadFailure(.timedOut, "\(number)")
      _ = record.fail(failure, from: "u", at: Self.moment) { _ in .zero }
    }
    #expect(record.attempts.map(\.failure.message) == (24..<40).map(String.init))
    #expect(record.attempts.count == Attempt.limit)
    #expect(record.updatedAt == Self.moment)
  }

  @Test func `a deferred attempt is listed once and is not counted`() {
    let deferring = DownloadRecord.Event.attemptDeferred(noting: Self.failure, from: "u")
    for var record in Self.records(for: deferring) where record.intent == .run {
      let failedAttempts = record.failedAttempts
      for _ in 0..<3 { record.take(deferring, at: Self.moment) }
      #expect(record.attempts.count == 1 && record.failedAttempts == failedAttempts)
    }
  }

  @Test
  func `only progress beyond the largest byte count clears failures, and none clears crashes`() {
    var record = Self.record(.running, .run)
    func checkpoint(_ synced: Int64) {
      record.checkpoint(
        ByteRanges(upTo: synced),
        total: 120,
        entityTag: "\"x\"",
        lastModified: nil,
        at: Self.moment
      )
    }
    checkpoint(0)
    checkpoint(40)
    #expect(record.received == 40)
    #expect(record.failedAttempts == 2)
    checkpoint(41)
    #expect(record.failedAttempts == 0 && record.unresolvedStarts == 1)
    #expect(record.resolvedBytes == 41)
    #expect(record.expected == 120 && record.entityTag == "\"x\"" && record.lastModified == nil)
    checkpoint(5)
    #expect(record.received == 41, "a checkpoint does not uncount bytes on disk")
  }

  @Test func `dropping the bytes drops their validators, and keeps the largest byte count`() {
    for var record in Self.records {
      record.dropBytes()
      #expect(record.received == 0 && record.expected == nil)
      #expect(record.entityTag == nil && record.lastModified == nil)
      #expect(record.resolvedBytes == 40)
    }
  }

  @Test func `the origin of the validators is kept when the URL moves to another one`() {
    var record = Self.record(.waiting, .run)
    record.url = "https://a.example/x"
    (record.entityTag, record.lastModified, record.validatorOrigin) = ("\"1\"", nil, nil)
    record.take(.moved(to: "https://a.example:443/y"))
    #expect(record.validatorOrigin == nil)
    record.take(.moved(to: "https://b.example/y"))
    #expect(record.validatorOrigin == "https://a.example:443")
    record.take(.moved(to: "https://c.example/y"))
    #expect(record.validatorOrigin == "https://a.example:443")
    record.take(.moved(to: "https://a.example/z"))
    #expect(record.validatorOrigin == nil)
    (record.entityTag, record.lastModified) = (nil, nil)
    record.take(.moved(to: "https://b.example/z"))
    #expect(record.validatorOrigin == nil, "there is no validator")
  }

  @Test func `the validator of a finished file stays that of its server when a refresh moves`() {
    var record = DownloadRecord.sample(.waiting, .run)
    record.url = "https://a.example/x"
    record.refreshed = FinishedVersion(
      entityTag: "\"1\"",
      completedAt: Self.moment,
      hasPieceDigests: false
    )
    record.take(.moved(to: "https://a.example/y"))
    #expect(record.refreshed?.validatorOrigin == nil)
    record.take(.moved(to: "https://b.example/y"))
    #expect(record.refreshed?.validatorOrigin == "https://a.example:443")
    record.take(.moved(to: "https://a.example/z"))
    #expect(record.refreshed?.validatorOrigin == nil)
  }

  @Test func `the server that stated a validator stays known when the bytes are dropped`() {
    for (origin, kept) in [(nil, "https://a.example:443"), ("https://c.example:443", nil)] {
      var record = Self.record(.waiting, .run)
      record.url = "https://a.example/x"
      (record.entityTag, record.lastModified) = (nil, nil)
      record.dropBytes()
      #expect(record.validatorOrigin == nil, "no server has stated one")
      record.validatorOrigin = origin
      record.lastModified = "Sun, 06 Nov 1994 08:49:37 GMT"
      record.dropBytes()
      record.dropBytes()
      #expect(record.validatorOrigin == origin ?? kept)
      #expect(record.entityTag == nil && record.lastModified == nil)
      record.restartFromFirstByte()
      #expect(record.validatorOrigin == nil)
    }
  }

  @Test func `the time of the last write follows checkpoints and starts`() {
    var record = Self.record(.running, .run)
    record.take(.started(keepingBytes: true), at: Self.moment)
    #expect(
      record.partialWrittenAt == nil,
      "nothing is known about bytes that no checkpoint has counted"
    )
    func checkpoint(_ writtenAt: Date) {
      record.checkpoint(
        ByteRanges(upTo: 40),
        total: 120,
        entityTag: nil,
        lastModified: nil,
        file: FileIdentity(
          size: 40,
          inode: 7,
          modified: Int64(writtenAt.timeIntervalSince1970) * 1_000_000_000
        ),
        at: Self.moment
      )
    }
    checkpoint(Self.moment - 60)
    #expect(record.partialWrittenAt == Self.moment - 60)
    #expect(record.partialIdentity?.inode == 7)
    let paused = record.applying(.pause).applying(.resume(immediately: false))
    #expect(paused.partialWrittenAt == Self.moment - 60, "a command does not write the file")
    record.take(.started(keepingBytes: true), at: Self.moment)
    #expect(record.partialWrittenAt == Self.moment)
    #expect(
      record.partialIdentity?.modificationDate == Self.moment - 60,
      "a start changes no file"
    )
    record.take(.started(keepingBytes: true), at: Self.moment - 7_200)
    #expect(record.partialWrittenAt == Self.moment, "the system clock was set back")
    checkpoint(Self.moment - 7_100)
    #expect(record.partialWrittenAt == Self.moment - 7_100)
    record.take(.taskAdopted(), at: Self.moment)
    #expect(record.partialWrittenAt == Self.moment)
    record.dropBytes()
    #expect(record.partialWrittenAt == nil && record.partialIdentity == nil)
  }

  /// The file is lost with its volume, the download begins again, and the volume returns.
  @Test(arguments: [0, 100] as [Int64])
  func `a finished file that returns does not get the validator of a later attempt`(
    size: Int64
  ) {
    let file = FileIdentity(size: size, inode: 1, modified: 1)
    var lost = Self.record(.running, .run)
    lost.take(.fileComplete(.init(file, entityTag: "\"1\"")), at: Self.moment)
    var completed = lost
    completed.take(.completed(), at: Self.moment)
    #expect(completed.entityTag == "\"1\"")
    lost.take(.fileLost, at: Self.moment)
    lost.take(.started(keepingBytes: false), at: Self.moment)
    typealias Change = (inout DownloadRecord) -> Void
    let changes: [Change] = [
      { record in
        record.checkpoint(
          ByteRanges(upTo: 40),
          total: 120,
          entityTag: "\"2\"",
          lastModified: "then",
          file: FileIdentity(size: 40, inode: 2, modified: 1),
          at: Self.moment
        )
      },
      { record in
        record.startEntity(total: 120, entityTag: "\"2\"", lastModified: "then", at: Self.moment)
      },
      { record in
        record.take(.taskAdopted(entityTag: "\"2\"", lastModified: "then"), at: Self.moment)
      },
    ]
    for change in changes {
      var record = lost
      change(&record)
      #expect(record.entityTag == "\"2\"")
      record.take(.completed(), at: Self.moment)
      #expect(record.entityTag == nil && record.lastModified == nil)
      #expect(record.fileIdentity == file && record.received == size)
    }
  }

  @Test func `new resume data replaces the validator of the task that was adopted`() {
    var record = DownloadRecord.sample(.running, .run)
    record.count(ByteRanges())
    record.resumeData = Data([1])
    record.take(
      .taskAdopted(entityTag: "\"1\"", lastModified: "then"),
      at: Self.moment
    )
    #expect(record.resumeData == nil)
    #expect(record.entityTag == "\"1\"" && record.lastModified == "then")
    record.replaceResumeData(with: nil)
    #expect(record.entityTag == "\"1\"")
    record.take(.interrupted(resumeData: Data([2])), at: Self.moment)
    #expect(record.resumeData == Data([2]))
    #expect(record.entityTag == nil && record.lastModified == nil)
    record.count(ByteRanges(upTo: 5))
    record.entityTag = "\"2\""
    record.replaceResumeData(with: Data([3]))
    #expect(record.entityTag == "\"2\"", "that of the bytes on disk")
  }

  @Test func `a completed record has no schedule and replaces no other file`() {
    for var record in Self.records(for: .completed()) {
      record.replaceFile(FileIdentity(size: 1, inode: 2, modified: 3))
      record.take(.completed(), at: Self.moment)
      #expect(record.completedAt == Self.moment && record.replacedFileIdentity == nil)
      #expect(!record.isHeld && !record.startsImmediately && record.nextRetryAt == nil)
      #expect(record.failedAttempts == 0 && record.unresolvedStarts == 0)
      #expect(record.resumeData == nil)
    }
  }

  @Test func `a completed record counts the bytes of its file, also after a withdrawn cancel`() {
    for var record in Self.records(for: .completed()) {
      record.dropBytes()
      record.fileIdentity = FileIdentity(size: 50, inode: 1, modified: 1)
      record.take(.completed(), at: Self.moment)
      #expect(record.received == 50 && record.expected == 50 && record.ranges == nil)
    }
  }

  @Test(arguments: [true, false])
  func `a crash is counted for each running record, and gives up one that ran alone`(
    isDue: Bool
  ) {
    let state = isDue ? DownloadState.waiting : .failedRetryable
    func requeued(
      _ record: DownloadRecord,
      _ crash: CrashScope,
      count: Int32 = 1
    ) -> DownloadRecord {
      var record = record
      record.unresolvedStarts = count
      record.take(Self.unattended(after: crash, isDue: isDue), at: Self.moment)
      return record
    }
    for record in Self.records(for: Self.unattended(after: .none, isDue: isDue)) {
      let isRunning = record.state == .running
      // A kill, a power cut and a stop are no crashes, however often they happen.
      for crash in [CrashScope.none, .several, .alone] {
        let first = requeued(record, crash)
        #expect(first.state == state)
        #expect(first.unresolvedStarts == (isRunning && crash != .none ? 2 : 1))
        #expect(first.attempts.isEmpty)
      }
      #expect(requeued(record, .none, count: 3).state == state)
      #expect(requeued(record, .several, count: 10).state == state, "others may be to blame")
      let third = requeued(record, .alone, count: 2)
      #expect(third.state == (isRunning ? .failedPermanent : state))
      #expect((third.attempts.last?.failure.code == .quarantined) == isRunning)
      // No cause hides forever behind the downloads beside it.
      #expect((requeued(record, .several, count: 11).state == .failedPermanent) == isRunning)
      #expect(requeued(record, .none, count: .max).state == .failedPermanent)
      #expect(requeued(record, .alone, count: .min).state == state)
      #expect(requeued(record, .alone, count: .max).unresolvedStarts == .max)
    }
  }

  @Test func `only a command to start immediately overrides the earliest start`() {
    let waiting: [DownloadState] = [.waiting, .paused, .failedRetryable, .failedPermanent]
    for var record in Self.records where !record.isGivenUp {
      record.postpone(until: Self.moment)
      #expect(record.applying(.resume(immediately: false)).notBefore == Self.moment)
      let now = record.applying(.resume(immediately: true))
      #expect(now.notBefore == (waiting.contains(record.state) ? nil : Self.moment))
      #expect(record.applying(.pause).notBefore == Self.moment)
    }
  }
}
