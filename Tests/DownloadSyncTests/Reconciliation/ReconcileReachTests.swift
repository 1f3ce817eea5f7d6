import Foundation
import ResumeData
import TestSupport
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// Which cases the code makes that inspects records, files and tasks.
///
/// A value, rule or action that nothing produces would promise something that no engine does.
@Suite struct ReconcileReachTests {
  private let folder: TemporaryFolder
  private let roots: Roots
  private let layout: FileLayout

  init() throws {
    folder = try TemporaryFolder()
    roots = Roots(paths: [:], standardPath: folder.path, storeID: "s")
    layout = roots.possibleLayout(of: Self.record(received: 40))
  }

  /// What the decisions of some cases contain.
  private struct Reached: Equatable {
    var stored: Set<ReconcileCase.Stored> = []
    var tasks: Set<ReconcileCase.LiveTask> = []
    var finals: Set<FileInspection.Final> = []
    var partials: Set<FileInspection.Partial> = []
    var resumeData: Set<ReconcileCase.ResumeDataStatus> = []
    var rules: Set<ReconcileRule.ID> = []
    var planRules: Set<TransferPlan.Rule.ID> = []
    var actions: Set<ReconcileAction> = []
    var sources: Set<TransferPlan.Source> = []

    mutating func add(_ given: ReconcileCase, _ decision: ReconcileDecision) {
      stored.insert(given.stored)
      tasks.insert(given.task)
      finals.insert(given.final)
      partials.insert(given.partial)
      resumeData.insert(given.resumeData)
      rules.formUnion(decision.rules)
      planRules.formUnion(decision.plan?.rules ?? [])
      actions.formUnion(decision.actions + (decision.plan?.actions ?? []))
      if let plan = decision.plan { sources.insert(plan.source) }
    }
  }

  // MARK: Inputs

  /// A record of a file of 100 bytes.
  private static func record(received: Int64) -> DownloadRecord {
    var record = DownloadRecord.sample()
    record.expected = 100
    record.received = received
    record.entityTag = "\"1\""
    return record
  }

  private func write(_ path: String, _ size: Int?) throws {
    try? FileManager.default.removeItem(atPath: path)
    guard let size else { return }
    try FileManager.default.createDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false),
      withIntermediateDirectories: true
    )
    try Data(count: size).write(to: URL(filePath: path))
  }

  /// Calls `body` with a record for each state of its files, which exist during the call.
  private func forEachFileState(_ body: (DownloadRecord) throws -> Void) throws {
    for (finalSize, isOurs) in [(nil, false), (100, true), (100, false), (3, false)]
      as [(Int?, Bool)]
    {
      try write(layout.finalPath, finalSize)
      for (size, received) in [(nil, 40), (40, 40), (70, 40), (30, 40), (100, 100), (120, 100)]
        as [(Int?, Int64)]
      {
        try write(layout.partialPath, size)
        for (isChanged, hasPieces) in [(false, false), (true, false), (true, true), (false, true)] {
          var record = Self.record(received: received)
          if isOurs { record.fileIdentity = FileIdentity(ofFileAt: layout.finalPath) }
          if isChanged { record.partialWrittenAt = Date(timeIntervalSince1970: 0) }
          record.hasPieceDigests = hasPieces
          try body(record)
        }
      }
    }
  }

  /// The results of a transfer.
  private static let results: [TransferResult] = [
    .complete, .cancelled, .startOver(DownloadFailure(.entityChanged, "")),
    .failed(DownloadFailure(.notFound, ""), retryAfter: nil),
    .failed(DownloadFailure(.timedOut, ""), retryAfter: nil),
  ]

  /// The lists of at most two tasks that a previous process may leave, by what they count as.
  private static let left: [ReconcileCase.LiveTask: [[TaskSnapshot]]] = {
    let tasks = TaskSnapshot.State.allCases.flatMap { state in
      [false, state == .ended].map { isDelivered in
        TaskSnapshot(
          id: TaskID(rawValue: 1),
          recordID: "a",
          bytesReceived: 0,
          offset: 40,
          state: state,
          isDelivered: isDelivered
        )
      }
    }
    let pairs = tasks.flatMap { first in
      tasks.map { second in
        var second = second
        second.id = TaskID(rawValue: 2)
        return [first, second]
      }
    }
    return Dictionary(grouping: tasks.map { [$0] } + pairs) { ReconcileCase.LiveTask(of: $0) }
  }()

  private func resumeData(tag: String) throws -> Data {
    let draft = URLSessionResumeData.Draft(
      url: Self.record(received: 0).url,
      received: 5,
      file: .temporaryName("CFNetworkDownload_aaaaaa.tmp"),
      entityTag: tag
    )
    return Data(try URLSessionResumeData(draft, form: .xml).bytes)
  }

  /// Adds what an engine meets whose transport keeps no tasks.
  private func addCore(to reached: inout Reached) throws {
    let results = Self.results.map {
      ReconcileCase.LiveTask($0, leavesResumeData: false)
    }
    try forEachFileState { record in
      for state in DownloadState.allCases {
        for intent in DownloadIntent.allCases {
          for task in [.none, .running] + Set(results) {
            var record = record
            (record.state, record.intent) = (state, intent)
            if intent == .remove { record.removesFile = true }
            let found = Reconciliation(of: record, in: roots, task: task, now: .now)
            reached.add(found.reconcileCase, found.decision)
          }
        }
      }
    }
    // A partial file without a record.
    let orphan = ReconcileCase(stored: .none, partial: .longer)
    reached.add(orphan, Reconciler.decide(orphan))
  }

  /// Adds what an engine with a background transport meets besides.
  private func addBackground(to reached: inout Reached) throws {
    let policy = ReconcilePolicy(takesResumeData: true)
    let ends = Self.results.map { ReconcileCase.LiveTask($0, leavesResumeData: true) }
    let data = [nil, Data([1]), try resumeData(tag: "\"1\""), try resumeData(tag: "\"2\"")]
    try forEachFileState { record in
      for state in DownloadState.allCases {
        var record = record
        record.state = state
        for hasFreeSlot in [true, false] {
          for (task, lists) in Self.left {
            let first = Reconciliation(
              of: record,
              in: roots,
              task: task,
              now: .now,
              hasFreeSlot: hasFreeSlot,
              policy: policy
            )
            for tasks in lists {
              let found = Adoption(of: tasks, first).found
              reached.add(found.reconcileCase, found.decision)
            }
          }
        }
        for task in [.none] + ends {
          for data in data {
            record.resumeData = data
            let found = Reconciliation(
              of: record,
              in: roots,
              task: task,
              now: .now,
              policy: policy
            )
            reached.add(found.reconcileCase, found.decision)
          }
        }
      }
    }
    for task in Self.left.keys {
      let given = ReconcileCase(stored: .none, task: task)
      reached.add(given, Reconciler.decide(given))
    }
  }

  // MARK: Tests

  @Test func `every transport reaches every rule of the core, and no other`() throws {
    var reached = Reached()
    try addCore(to: &reached)
    #expect(reached.stored == Set(ReconcileCase.Stored.allCases))
    #expect(reached.tasks == Set(ReconcileCase.LiveTask.ofEveryTransport))
    #expect(reached.finals == Set(FileInspection.Final.allCases))
    #expect(reached.partials == Set(FileInspection.Partial.allCases))
    #expect(reached.resumeData == [.none])
    #expect(reached.rules == Set(ReconcileTable.core.rules.map(\.id)))
    #expect(reached.planRules == Set(ReconcileTable.core.planRules.map(\.id)))
  }

  @Test func `something produces every value, rule and action`() throws {
    var reached = Reached()
    try addCore(to: &reached)
    try addBackground(to: &reached)
    #expect(reached.tasks == Set(ReconcileCase.LiveTask.allCases))
    #expect(reached.resumeData == Set(ReconcileCase.ResumeDataStatus.allCases))
    #expect(reached.rules == Set(ReconcileRule.ID.allCases))
    #expect(reached.planRules == Set(TransferPlan.Rule.ID.allCases))
    #expect(reached.actions == Set(ReconcileAction.allCases))
    #expect(reached.sources == Set(TransferPlan.Source.allCases))
  }

  @Test func `a case that every transport reaches is one that the core decides`() {
    for given in ReconcileCase.all() {
      let decision = Reconciler.decide(given)
      guard given.reach(decision) == .everyTransport else { continue }
      #expect(ReconcileTable.core.decision(for: given) == decision, "\(given)")
    }
  }
}

/// The tasks that a previous process left.
@Suite struct AdoptionTests {
  private func task(
    _ id: UInt64,
    _ state: TaskSnapshot.State,
    bytes: Int64 = 0,
    offset: Int64 = 0,
    isDelivered: Bool = false
  ) -> TaskSnapshot {
    TaskSnapshot(
      id: TaskID(rawValue: id),
      recordID: "a",
      bytesReceived: bytes,
      offset: offset,
      state: state,
      isDelivered: isDelivered
    )
  }

  private func adoption(_ tasks: [TaskSnapshot], _ state: DownloadState) -> Adoption {
    var record = DownloadRecord.sample()
    record.state = state
    let roots = Roots(paths: [:], standardPath: "/nonexistent", storeID: "s")
    let task = ReconcileCase.LiveTask(of: tasks)
    return Adoption(of: tasks, Reconciliation(of: record, in: roots, task: task, now: .now))
  }

  @Test func `of several live tasks, the one with most bytes is adopted`() {
    let tasks = [
      task(1, .running, bytes: 5), task(2, .suspended, bytes: 9), task(3, .canceling, bytes: 20),
    ]
    let adoption = adoption(tasks, .running)
    #expect(adoption.found.decision.rules == [.d1, .t6])
    #expect(adoption.task?.id.rawValue == 2 && adoption.needsSink)
    #expect(adoption.others.map(\.id.rawValue) == [1, 3])
  }

  @Test func `of several tasks, the one that has delivered is kept, or else one that has ended`() {
    let delivered = task(3, .ended, isDelivered: true)
    let tasks = [task(1, .running, bytes: 9), task(2, .ended, bytes: 8)]
    for (tasks, kept) in [(tasks, 2), (tasks + [delivered], 3)] as [([TaskSnapshot], UInt64)] {
      let adoption = adoption(tasks, .running)
      #expect(adoption.found.decision.rules == [.d2, .t1])
      #expect(adoption.task?.id.rawValue == kept && adoption.needsSink)
      #expect(adoption.others.count == tasks.count - 1)
    }
  }

  @Test func `a task that is being cancelled is not kept beside a live one`() {
    let adoption = adoption([task(1, .canceling, bytes: 9), task(2, .running)], .waiting)
    #expect(adoption.found.decision.rules == [.t6])
    #expect(adoption.task?.id.rawValue == 2)
    #expect(adoption.others.map(\.id.rawValue) == [1])
  }

  @Test(
    arguments: [TaskSnapshot.State.running, .suspended, .ended],
    [DownloadState.running, .paused]
  )
  func `a task that does not continue the bytes on disk is not adopted`(
    state: TaskSnapshot.State,
    stored: DownloadState
  ) {
    let adoption = adoption([task(1, state, offset: 40)], stored)
    #expect(adoption.found.decision.rules.first == .d3)
    #expect(adoption.task?.id.rawValue == 1 && !adoption.needsSink)
  }

  @Test(arguments: TaskSnapshot.State.allCases)
  func `the end of the task of a removed download is awaited`(state: TaskSnapshot.State) {
    let adoption = adoption([task(1, state)], .removed)
    #expect(adoption.found.decision.rules == [.x1])
    #expect(adoption.needsSink)
  }

  @Test func `without a task there is nothing to adopt`() {
    #expect(adoption([], .running).task == nil)
  }
}
