internal import DownloadStore

/// What happens to the tasks of one record that a previous process left.
///
/// ``ReconcileTable/background`` decides; this value has the inputs that follow from the tasks.
struct Adoption {
  /// The record, its files, and the decision.
  let found: Reconciliation
  /// The task that is kept of several; `nil` if there is none.
  let task: TaskSnapshot?
  /// The tasks that are cancelled.
  let others: [TaskSnapshot]
  /// Whether the kept task has delivered its body, which is read again from its start although some
  /// of its bytes are counted already.
  ///
  /// A process was killed while it read the body.
  let isReadAgain: Bool

  /// Decides about the tasks of a record.
  ///
  /// - Parameters:
  ///   - tasks: The tasks.
  ///   - found: The decision about the record and its tasks, whichever of them is kept.
  init(of tasks: [TaskSnapshot], _ found: Reconciliation) {
    var found = found
    let task = found.effects.keeper.task(of: tasks)
    isReadAgain = task.map { found.readsAgain($0) } ?? false
    if let task, !isReadAgain, !found.lacks(from: task.offset) {
      found.decideAgain { $0.continuesBytes = false }
    }
    let cancelsOthers = found.effects.cancelsOthers
    others = tasks.filter { $0.id != task?.id && (cancelsOthers || $0.state == .canceling) }
    self.task = task
    self.found = found
  }

  /// Whether the engine connects a sink to the task, which is adopted, or whose end is awaited.
  ///
  /// The end of a task that is cancelled is awaited, too: it may leave resume data. A file that has
  /// its final name needs no bytes.
  var needsSink: Bool {
    let effects = found.effects
    guard found.reconcileCase.conditions.continuesBytes else { return false }
    switch effects.record {
    case .complete, .redoRename, .keep(.completed): return false
    case .finalize: return true
    case .keep, .fail, .delete:
      return effects.task != .keep || found.reconcileCase.task == .canceling
    }
  }
}

extension Reconciliation {
  /// Whether a delivered body is read again, although some of its bytes are already counted.
  fileprivate func readsAgain(_ task: TaskSnapshot) -> Bool {
    guard task.isDelivered, record.intent == .run, record.received > task.offset,
      hasUnchanged(upTo: task.offset)
    else { return false }
    switch record.state {
    case .waiting, .running, .failedRetryable: return reconcileCase.partial != .complete
    default: return false
    }
  }

  /// Whether the record counts exactly the bytes before an offset, and the partial file contains
  /// them.
  fileprivate func lacks(from offset: Int64) -> Bool {
    record.committed == ByteRanges(upTo: offset)
      && (offset == 0 || [.equal, .longer].contains(reconcileCase.partial))
      && hasUnchanged(upTo: offset)
  }

  /// Whether a task may continue the bytes before an offset without a check of the partial file.
  private func hasUnchanged(upTo offset: Int64) -> Bool {
    offset == 0 || !reconcileCase.conditions.isPartialChanged
  }
}

extension ReconcileEffects.Keeper {
  /// Returns the task to keep of those of one record; `nil` if there is none.
  ///
  /// Of equal tasks, the one that was started first.
  func task(of tasks: [TaskSnapshot]) -> TaskSnapshot? {
    tasks.max { one, other in
      (rank(one), one.bytesReceived, other.id.rawValue)
        < (rank(other), other.bytesReceived, one.id.rawValue)
    }
  }

  private func rank(_ task: TaskSnapshot) -> Int {
    if task.state == .canceling { return 0 }
    guard self == .finished else { return 1 }
    return task.isDelivered ? 3 : task.state == .ended ? 2 : 1
  }
}

extension TaskSnapshot {
  /// Returns the task to keep of several for one record, as rules D1 and D2 say.
  static func keeper(of tasks: [TaskSnapshot]) -> TaskSnapshot? {
    Reconciler.decide(ReconcileCase(stored: .running, task: .init(of: tasks))).effects.keeper
      .task(of: tasks)
  }
}

extension ReconcileCase.LiveTask {
  /// Combines the states of all tasks of one record that a previous process left.
  ///
  /// The result of a task that has ended is not known before its end is passed to a sink. Until then
  /// it counts as `doneOK` if it has delivered a body, and otherwise as `canceling`.
  init(of tasks: [TaskSnapshot]) {
    let open = tasks.filter { $0.state != .canceling }
    self =
      switch open.count {
      case 0: tasks.isEmpty ? .none : .canceling
      case 1 where open[0].state == .ended: open[0].isDelivered ? .doneOK : .canceling
      case 1: open[0].state == .running ? .running : .suspended
      default: open.contains { $0.state == .ended } ? .dupDoneRunning : .dupRunning
      }
  }
}
