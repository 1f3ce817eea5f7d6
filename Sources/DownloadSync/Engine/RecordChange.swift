internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// The change that a decision makes to a record in the store; it does not affect files or tasks.
struct RecordChange: Sendable {
  /// The record on which the decision is based.
  private let record: DownloadRecord
  private let effects: ReconcileEffects
  private let resumeData: ResumeDataChange
  /// The bytes that count after a check of the partial file; `nil` if it was not checked.
  private let counted: ByteRanges?
  /// The identity of the partial file when it was examined.
  private let partialIdentity: FileIdentity?
  private let crash: CrashScope
  private let maximumUnresolvedStarts: Int32
  private let hooks: Set<DownloadHook>
  /// The previous versions beside the finished file; `nil` if these do not change.
  private let versions: [KeptVersion]?
  private let namedVersion: DownloadRecord.NamedVersion?

  /// Creates the change that a decision requires.
  ///
  /// - Parameters:
  ///   - found: The record and the decision.
  ///   - crash: Whether the previous process crashed, if this is a decision at launch.
  ///   - resumeData: The resume data that the task has left.
  ///   - counted: The bytes that count after a check of the partial file; `nil` if it was not
  ///     checked.
  ///   - options: How many crashes a download may cause, and the hooks to mark.
  init(
    _ found: Reconciliation,
    after crash: CrashScope,
    resumeData: Data?,
    counted: ByteRanges?,
    _ options: EngineOptions
  ) {
    record = found.record
    effects = found.effects
    self.resumeData = ResumeDataChange(effects.resumeData, left: resumeData)
    self.counted = counted
    partialIdentity = found.partialIdentity
    self.crash = crash
    maximumUnresolvedStarts = options.maximumUnresolvedStarts
    hooks = options.hooks(of: found.record.url)
    versions = found.completes ? found.record.versions(adding: nil, in: found.layout) : nil
    namedVersion = found.namedVersion
  }

  /// Applies the change, unless the stored record has another state, intent or generation by now.
  ///
  /// At launch most records do not change, and are not read again: the engine applies the changes
  /// of other writers later.
  ///
  /// - Parameters:
  ///   - moment: The time of the change.
  ///   - tx: The transaction.
  /// - Returns: The record after the change; `nil` if it was deleted, or has changed since the
  ///   decision.
  /// - Throws: `StoreError`.
  func apply(at moment: Date, in tx: inout StoreTransaction) throws -> DownloadRecord? {
    let deletesRecord = effects.record == .delete
    guard try deletesRecord || changed(record, at: moment) != record else { return record }
    guard let stored = try tx.record(of: TransferKey(record)), stored.state == record.state,
      stored.intent == record.intent
    else { return nil }
    if deletesRecord {
      try tx.delete(DownloadRecord.self, key: record.url)
      try tx.deleteDetails(of: record)
      return nil
    }
    let changed = try changed(stored, at: moment)
    return changed == stored ? stored : try tx.store(changed, after: stored)
  }

  /// Whether the change gives a refresh up, which leaves the finished file without a partial one.
  func givesRefreshUp(at moment: Date) throws -> Bool {
    guard record.earlierVersion != nil, effects.record != .complete, effects.partial != .delete
    else { return false }
    return try changed(record, at: moment).state == .completed
  }

  private func changed(_ stored: DownloadRecord, at moment: Date) throws -> DownloadRecord {
    var changed = stored
    resumeData.apply(to: &changed)
    // A record without bytes keeps the size that its publisher requires.
    if effects.rollsBack, stored.received > 0 { changed.dropBytes() }
    if let counted { changed.recount(counted, of: partialIdentity, at: moment) }
    switch effects.record {
    case .complete: try changed.apply(.completed(marking: hooks, keeping: versions), at: moment)
    case .keep(let state): if let state { try enter(state, &changed, at: moment) }
    // A failed attempt and a rename have commits of their own, and a deleted record has no state.
    case .fail, .finalize, .redoRename, .delete: break
    }
    return changed
  }

  private func enter(
    _ state: DownloadState,
    _ record: inout DownloadRecord,
    at moment: Date
  ) throws {
    switch state {
    case .waiting, .failedRetryable:
      let unattended = DownloadRecord.UnattendedRecord(
        after: crash,
        maximumCrashes: maximumUnresolvedStarts,
        source: record.source,
        isDue: state == .waiting,
        marking: hooks
      )
      try record.apply(.unattended(unattended), at: moment)
    case .paused: try record.apply(.pauseCarriedOut, at: moment)
    case .cancelled:
      try record.apply(
        .cancellationCarriedOut(named: namedVersion, marking: hooks, keeping: versions),
        at: moment
      )
    // The other states are those that the record already has.
    case .running, .finalizing, .completed, .failedPermanent, .removed: break
    }
  }
}

/// A change to a record's resume data.
enum ResumeDataChange: Sendable, Hashable {
  /// Keeps the stored resume data: the task has left none.
  case none
  /// Stores the resume data that the task has left.
  case store(Data)
  /// Drops the stored resume data: the task could not continue from it.
  case drop

  /// Translates the effect of a decision; `data` is the resume data that the task has left.
  init(_ effect: ReconcileEffects.OnResumeData, left data: Data?) {
    self =
      switch effect {
      case .keep: .none
      case .store: data.map(Self.store) ?? .none
      case .drop: .drop
      }
  }

  func apply(to record: inout DownloadRecord) {
    switch self {
    case .none: break
    case .store(let data): record.replaceResumeData(with: data)
    case .drop: record.replaceResumeData(with: nil)
    }
  }
}

extension ActiveTransfer {
  /// Returns the change after a failure of the transfer.
  func resumeDataChange(after failure: DownloadFailure) -> ResumeDataChange {
    if let data = transfer.resumeData { return .store(data) }
    // A failure to reach the server says nothing about the resume data.
    return usesResumeData && !failure.code.traits.contains(.beforeRequest) && transfer.received == 0
      ? .drop : .none
  }
}
