internal import DownloadStore

/// The cases that a rule is about: on each axis that is given, one of the values.
struct ReconcilePattern: Sendable {
  var stored: [ReconcileCase.Stored]?
  var task: [ReconcileCase.LiveTask]?
  var final: [FileInspection.Final]?
  var partial: [FileInspection.Partial]?
  var resumeData: [ReconcileCase.ResumeDataStatus]?
  var hasFreeSlot: Bool?
  var takesResumeData: Bool?

  func matches(_ given: ReconcileCase) -> Bool {
    if let stored, !stored.contains(given.stored) { return false }
    if let task, !task.contains(given.task) { return false }
    if let final, !final.contains(given.final) { return false }
    if let partial, !partial.contains(given.partial) { return false }
    if let resumeData, !resumeData.contains(given.resumeData) { return false }
    if let hasFreeSlot, hasFreeSlot != given.conditions.hasFreeSlot { return false }
    if let takesResumeData, takesResumeData != given.conditions.takesResumeData { return false }
    return true
  }
}

extension ReconcileCase.Stored {
  /// What a download is that is wanted, and goes on by itself.
  static let wantsToRun: [Self] = [.waiting, .running, .failedRetryable]
  /// What a download is whose transfer is not over.
  static let transferring: [Self] = wantsToRun + [.paused, .failedPermanent]
  /// What a download is whose file is not under its name.
  static let unfinished: [Self] = transferring + [.finalizing]
}

extension [FileInspection.Final] {
  static let foreign: Self = [.sizeOnly, .mismatch]
}

extension [ReconcileCase.LiveTask] {
  /// One task that moves bytes, or would; several are made one before.
  static let live: Self = [.running, .suspended]
}
