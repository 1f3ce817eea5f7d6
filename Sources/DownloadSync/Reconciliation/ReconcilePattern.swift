internal import DownloadStore

/// The cases that a rule applies to.
///
/// A case matches if it has one of the listed values on each axis; `nil` matches every value.
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
  /// The states of downloads that start or continue without a command.
  static let wantsToRun: [Self] = [.waiting, .running, .failedRetryable]
  /// The states of downloads that are neither complete nor being renamed, cancelled or removed.
  static let transferring: [Self] = wantsToRun + [.paused, .failedPermanent]
  /// The states of downloads whose file does not have its final name yet.
  static let unfinished: [Self] = transferring + [.finalizing]
}

extension [FileInspection.Final] {
  static let foreign: Self = [.sizeOnly, .mismatch]
}

extension [ReconcileCase.LiveTask] {
  /// One task that is running or suspended; D1 has reduced several tasks to one before.
  static let live: Self = [.running, .suspended]
}
