package import DownloadStore
package import Foundation
internal import ObjectStore

/// The state and the decision of one record, as the engine executes it and commands show it.
package struct Reconciliation: Sendable, Hashable {
  /// The record as stored.
  package var record: DownloadRecord
  /// The paths of its files.
  package var layout: FileLayout
  /// The identity of the partial file; `nil` if there is none or it cannot be examined.
  var partialIdentity: FileIdentity?
  /// Whether the partial file has a second name, so that none of its bytes are used.
  let isPartialShared: Bool
  /// The file that has the name, if the download replaces it.
  let replaced: FileIdentity?
  /// Whether the finished file to which a refresh would return is gone, or is another one by now.
  let lacksEarlierVersion: Bool
  /// The version that has the name, once a newer one is complete; `nil` otherwise, or if neither has it.
  let namedVersion: DownloadRecord.NamedVersion?
  /// The inputs of the decision.
  package var reconcileCase: ReconcileCase
  /// The decision.
  package var decision: ReconcileDecision
  /// Whether the decision was not executed because another process is using the partial file.
  package var isPartialInUse = false
  /// The failure to delete the files or to sync their folder; `nil` if there was none.
  ///
  /// The files are there, or may come back after a power failure, so the record is left unchanged.
  package var deletionFailure: DownloadFailure?
  /// Why the folder of the files to delete cannot be reached, for people; `nil` if it can be.
  ///
  /// The record is left unchanged until the folder is back.
  package var unreachableFolder: String?

  /// Examines the files of a record, and decides.
  ///
  /// Changes nothing. Costs two `lstat` calls, and parsing the record's resume data if it has some.
  /// A record whose root is unknown has no files.
  ///
  /// - Parameters:
  ///   - record: The record as stored.
  ///   - roots: The folders of the store's roots.
  ///   - task: The state of the record's task.
  ///   - now: The current time, which decides whether a retry is due.
  ///   - hasFreeSlot: Whether another download may run.
  ///   - policy: The settings that the decision depends on.
  package init(
    of record: DownloadRecord,
    in roots: Roots,
    task: ReconcileCase.LiveTask = .none,
    now: Date,
    hasFreeSlot: Bool = true,
    policy: ReconcilePolicy = ReconcilePolicy()
  ) {
    self.record = record
    layout = roots.possibleLayout(of: record)
    let files = FileInspection(of: record, in: layout)
    partialIdentity = files.partialIdentity
    isPartialShared = files.isPartialShared
    replaced = files.replaced
    lacksEarlierVersion = record.earlierVersion != nil && !record.hasPreviousFile(files)
    namedVersion = record.namedVersion(files)
    reconcileCase = ReconcileCase(
      record: record,
      files: files,
      task: task,
      now: now,
      hasFreeSlot: hasFreeSlot,
      policy: policy
    )
    decision = Reconciler.decide(reconcileCase)
  }

  /// Examines the active records.
  ///
  /// Changes nothing. The cases assume that there is no task. Downloads that were running when the
  /// last engine ended come first.
  ///
  /// - Parameters:
  ///   - store: The store of the records.
  ///   - now: The current time, which decides whether a retry is due.
  ///   - policy: The settings that the decisions depend on.
  /// - Returns: One value for each examined record.
  /// - Throws: `StoreError`.
  /// - Complexity: O(n) for n active records, plus two `lstat` calls for each examined one.
  package static func ofActive(
    in store: RecordStore,
    now: Date,
    policy: ReconcilePolicy = ReconcilePolicy()
  ) throws -> [Self] {
    let active = try store.records(
      DownloadRecord.where { $0.state.isIn(DownloadState.active) }
    )
    return of(active, in: try store.roots(), now: now, policy: policy)
  }

  /// Examines records without a task; those that were running come first.
  static func of(
    _ records: [DownloadRecord],
    in roots: Roots,
    now: Date,
    policy: ReconcilePolicy
  ) -> [Self] {
    let found = records.map { Self(of: $0, in: roots, now: now, policy: policy) }
    return found.filter { $0.decision.result == .waitingFirst }
      + found.filter { $0.decision.result != .waitingFirst }
  }

  /// Returns the partial files without a record that the rules delete (N4).
  ///
  /// - Parameter store: The store whose folders are examined.
  /// - Returns: The files, for ``RecordStore/purge(_:)``.
  /// - Throws: `StoreError`; `RecordStoreError`.
  package static func orphans(in store: RecordStore) throws -> PurgePlan {
    let decision = Reconciler.decide(ReconcileCase(stored: .none, partial: .longer))
    guard decision.effects.partial == .collect else {
      return try store.purgePlan([], withFiles: false)
    }
    return try store.orphanPlan()
  }

  /// Decides again with a condition that depends on the first decision.
  mutating func decideAgain(_ change: (inout ReconcileCase.Conditions) -> Void) {
    change(&reconcileCase.conditions)
    decision = Reconciler.decide(reconcileCase)
  }

  /// The steps of the engine that carry the decision out.
  var effects: ReconcileEffects { decision.effects }

  /// Whether the finished file is in place, and the download is complete with it.
  ///
  /// The cancel of a refresh comes too late for a newer version that has the name already.
  var completes: Bool {
    effects.completes || namedVersion == .newer && reconcileCase.stored == .cancelled
  }
}

/// The settings that decisions depend on.
package struct ReconcilePolicy: Sendable, Hashable {
  /// Whether the transport accepts resume data, as a ``BackgroundTransport`` does.
  package var takesResumeData: Bool
  /// Whether to continue bytes on disk that neither a validator nor a digest protects.
  ///
  /// If the server's file has changed in the meantime, the result may be a mixture of both
  /// versions.
  package var continuesUnvalidated: Bool
  /// The policy that limits the wait before a retry; `nil` for no limit.
  ///
  /// A retry date that is further away was stored before the system clock was set back, and is due.
  package var retry: RetryPolicy?
  /// Whether every retry is due, whatever its date says.
  ///
  /// The engine sets this when a record leaves its queue. The queue has timed the wait with the
  /// monotonic clock, which changes of the system clock do not affect.
  var retriesAreDue = false

  /// Creates a policy.
  ///
  /// The default is for a transport without resume data, and continues only what can be validated.
  package init(
    takesResumeData: Bool = false,
    continuesUnvalidated: Bool = false,
    retry: RetryPolicy? = nil
  ) {
    self.takesResumeData = takesResumeData
    self.continuesUnvalidated = continuesUnvalidated
    self.retry = retry
  }

  /// The policy for a download whose wait is over.
  var afterWait: Self {
    var policy = self
    policy.retriesAreDue = true
    return policy
  }

  /// Whether the next retry of a record is due.
  func isRetryDue(of record: DownloadRecord, at now: Date) -> Bool {
    if retriesAreDue { return true }
    guard let wait = record.nextRetryAt?.timeIntervalSince(now), wait > 0 else { return true }
    return retry.map { wait > $0.longestWait(of: record) / .seconds(1) } ?? false
  }
}
