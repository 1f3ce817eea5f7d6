package import DownloadStore
package import Foundation
internal import ObjectStore

/// What is found and decided about one record: what engines carry out and commands show.
package struct Reconciliation: Sendable, Hashable {
  /// The record as it is in the store.
  package var record: DownloadRecord
  /// Where its files lie.
  package var layout: FileLayout
  /// What was found.
  package var reconcileCase: ReconcileCase
  /// What is to be done.
  package var decision: ReconcileDecision
  /// Whether it was not done, because another process is using the partial file that is to go.
  package var isPartialInUse = false
  /// Why the deletion of its files may not outlast a power cut; the record stays as it is then.
  package var deletionFailure: DownloadFailure?

  /// Looks at a record and its files, and decides.
  ///
  /// Costs two `lstat`, and reading the resume data of a record that has some.
  ///
  /// - Parameters:
  ///   - record: The record as it is in the store.
  ///   - roots: Where the store's roots are.
  ///   - task: What works for the record.
  ///   - now: The time, for the next try.
  ///   - hasFreeSlot: Whether one more download may run.
  ///   - policy: What else the decision depends on.
  /// - Throws: `DownloadStoreError` with `missingRoot`.
  package init(
    of record: DownloadRecord,
    in roots: Roots,
    task: ReconcileCase.LiveTask = .none,
    now: Date,
    hasFreeSlot: Bool = true,
    policy: ReconcilePolicy = ReconcilePolicy()
  ) throws(DownloadStoreError) {
    self.record = record
    layout = try roots.layout(of: record)
    reconcileCase = ReconcileCase(
      record: record,
      files: FileInspection(of: record, in: layout),
      task: task,
      now: now,
      hasFreeSlot: hasFreeSlot,
      policy: policy
    )
    decision = Reconciler.decide(reconcileCase)
  }

  /// Everything that a launch looks at: the records that are not at rest.
  ///
  /// What was running comes first.
  ///
  /// - Parameters:
  ///   - store: The records.
  ///   - urls: The records to look at; `nil` for all.
  ///   - now: The time, for the next try.
  ///   - policy: What else the decision depends on.
  /// - Returns: What was found and decided.
  /// - Throws: `DownloadStoreError` with `missingRoot`; `StoreError`.
  /// - Complexity: O(active) records, and two `lstat` for each that is looked at.
  package static func ofActive(
    in store: DownloadStore,
    urls: Set<String>? = nil,
    now: Date,
    policy: ReconcilePolicy = ReconcilePolicy()
  ) throws -> [Self] {
    let roots = try store.roots()
    let active = try store.records(
      DownloadRecord.where { $0.state.isIn(DownloadState.active) }
    )
    let found = try active.filter { urls?.contains($0.url) ?? true }
      .map { try Self(of: $0, in: roots, now: now, policy: policy) }
    return found.filter { $0.decision.result == .waitingFirst }
      + found.filter { $0.decision.result != .waitingFirst }
  }

  /// The bytes that are counted no more after the decision, though the download goes on.
  var lostBytes: Int64 { decision.plan?.beginsAnew == true ? record.received : 0 }
}
