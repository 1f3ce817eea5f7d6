public import DownloadStore

/// Everything that reconciliation looks at, as one value without a clock, a disk or a network.
public struct ReconcileCase: Sendable, Hashable {
  /// Whether a live task works for the record.
  public enum LiveTask: String, Sendable, Hashable, CaseIterable {
    /// There is none.
    case none
    /// There is one.
    case running
  }

  /// What the store says; `nil` when it has no such record.
  public var stored: DownloadState?
  /// What the record's owner wants.
  public var intent: DownloadIntent
  /// The live task.
  public var task: LiveTask
  /// The file under the finished name.
  public var final: FileFacts.Final
  /// The partial file.
  public var partial: FileFacts.Partial
  /// Whether the bytes on disk may be continued: there is a validator, or a digest to check with.
  public var canContinue: Bool

  /// States a case.
  public init(
    stored: DownloadState?,
    intent: DownloadIntent = .run,
    task: LiveTask = .none,
    final: FileFacts.Final = .missing,
    partial: FileFacts.Partial = .missing,
    canContinue: Bool = true
  ) {
    self.stored = stored
    self.intent = intent
    self.task = task
    self.final = final
    self.partial = partial
    self.canContinue = canContinue
  }

  /// The case of a record with those files.
  public init(record: DownloadRecord, facts: FileFacts, task: LiveTask = .none) {
    self.init(
      stored: record.state,
      intent: record.intent,
      task: task,
      final: facts.final,
      partial: facts.partial,
      canContinue: Validator(of: record) != nil || record.expectedDigest != nil
    )
  }
}
