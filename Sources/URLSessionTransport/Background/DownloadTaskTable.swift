#if canImport(Darwin)
  internal import DownloadSync
  internal import Foundation
  internal import Synchronization

  /// Who hears of the tasks of a background session, and what nobody has heard of yet.
  ///
  /// The engine knows a task by the number that it had when it was started or adopted; the session may
  /// replace it by another one, which goes on from its resume data.
  final class DownloadTaskTable: Sendable {
    /// What there is to tell of a task that has ended.
    private struct End: Sendable {
      var snapshot: TaskSnapshot
      var delivery: Delivery
    }

    private struct State: Sendable {
      var sinks: [TaskID: any TaskSink] = [:]
      /// The delivered files of tasks whose end is about to come.
      var files: [TaskID: DeliveryInbox.Delivery] = [:]
      var ends: [TaskID: End] = [:]
      /// The delivered files that sinks have heard, until they are acknowledged.
      var told: [TaskID: DeliveryInbox.Delivery] = [:]
      /// Tasks that nobody wants to hear of.
      var unwanted: Set<TaskID> = []
      /// Tasks that end only to leave resume data.
      var asked: Set<TaskID> = []
      /// The engine's number of a task that goes on for another one, and the other way round.
      var engineIDs: [TaskID: TaskID] = [:]
      var sessionIDs: [TaskID: TaskID] = [:]
      var hasLooked = false
      var unused = UInt64.max
    }

    private let inbox: DeliveryInbox
    private let copies: TemporaryFileCopies?
    // Held for a look, and never while a sink is told something.
    private let state = Mutex(State())

    /// Makes a table with what an earlier process has left in the inbox.
    init(inbox: DeliveryInbox, copies: TemporaryFileCopies?) {
      self.inbox = inbox
      self.copies = copies
      for delivery in inbox.leftovers() {
        let id = unusedID()
        let end = End(
          snapshot: TaskSnapshot(delivery, id: id),
          delivery: Delivery(of: delivery)
        )
        state.withLock { $0.ends[id] = end }
      }
    }

    /// Whether this is the first time that it is asked.
    var isFirstLook: Bool {
      state.withLock { state in
        defer { state.hasLooked = true }
        return !state.hasLooked
      }
    }

    /// A number that no task of the session has.
    func unusedID() -> TaskID {
      state.withLock { state in
        state.unused -= 1
        return TaskID(rawValue: state.unused)
      }
    }

    func add(_ task: URLSessionDownloadTask, sink: any TaskSink) {
      state.withLock { $0.sinks[$0.engineIDs[task.id] ?? task.id] = sink }
    }

    /// The session's number of a task.
    func sessionID(of id: TaskID) -> TaskID {
      state.withLock { $0.sessionIDs[id] ?? id }
    }

    /// Notes that a task is to end; the end of one of which nobody hears is forgotten.
    func noteCancel(_ id: TaskID) {
      let end = state.withLock { state -> End? in
        state.asked.remove(state.sessionIDs[id] ?? id)
        if state.sinks[id] == nil { state.unwanted.insert(id) }
        return state.sinks[id] == nil ? state.ends.removeValue(forKey: id) : nil
      }
      if let file = end?.delivery.file { inbox.remove(file) }
    }

    /// Tells a sink of a task that has ended; false when it has not, as far as is known.
    func adopt(_ id: TaskID, sink: any TaskSink) -> Bool {
      guard let end = state.withLock({ $0.ends.removeValue(forKey: id) }) else { return false }
      sink.report(held: end.snapshot.bytesReceived, of: nil)
      tell(end.delivery, id, sink)
      return true
    }

    /// Deletes the delivered file of a task whose end is committed.
    func acknowledge(_ id: TaskID) {
      guard let file = state.withLock({ $0.told.removeValue(forKey: id) }) else { return }
      copies?.forget(file.description.recordID)
      inbox.remove(file)
    }

    /// What is known of the session's tasks, and of those that have ended.
    func snapshots(of tasks: [URLSessionDownloadTask]) -> [TaskSnapshot] {
      let (ends, engineIDs) = state.withLock { ($0.ends, $0.engineIDs) }
      let live = tasks.compactMap { task -> TaskSnapshot? in
        var snapshot = TaskSnapshot(task)
        snapshot.id = engineIDs[task.id] ?? task.id
        return ends[snapshot.id] == nil && task.state != .completed ? snapshot : nil
      }
      return (live + ends.values.map(\.snapshot)).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    // MARK: What the session says

    func sink(of task: URLSessionTask) -> (any TaskSink)? {
      state.withLock { $0.sinks[$0.engineIDs[task.id] ?? task.id] }
    }

    /// Copies the file of a task that has received bytes.
    ///
    /// - Returns: Whether the task has to be asked for resume data first, so that the name of its file
    ///   becomes known.
    func copy(_ task: URLSessionTask, held byteCount: Int64, of total: Int64?) -> Bool {
      guard let copies, let recordID = task.taskDescription, TaskSnapshot(task).offset == 0 else {
        return false
      }
      guard let response = task.response as? HTTPURLResponse else { return false }
      copies.progressed(recordID, held: byteCount, of: ResponseHead(response))
      guard copies.mustAsk(recordID, held: byteCount, of: total) else { return false }
      state.withLock { _ = $0.asked.insert(task.id) }
      return true
    }

    /// Whether a task has ended only to leave resume data.
    func takeAsked(_ task: URLSessionTask, _ error: (any Error)?) -> Bool {
      state.withLock { $0.asked.remove(task.id) != nil } && (error as? URLError)?.code == .cancelled
    }

    /// Has a task go on for one that has left resume data.
    func replace(_ old: URLSessionTask, with new: URLSessionTask) {
      state.withLock { state in
        let id = state.engineIDs.removeValue(forKey: old.id) ?? old.id
        state.engineIDs[new.id] = id
        state.sessionIDs[id] = new.id
      }
    }

    /// Takes a delivered file, which the session deletes when this returns.
    func take(_ file: URL, of task: URLSessionTask) {
      guard let response = task.response as? HTTPURLResponse else { return }
      let description = DeliveryInbox.Description(
        task: task.id.rawValue,
        recordID: task.taskDescription ?? "",
        offset: TaskSnapshot(task).offset,
        head: ResponseHead(response)
      )
      guard let delivery = try? inbox.accept(file.path, description) else { return }
      state.withLock { $0.files[task.id] = delivery }
    }

    /// A task has ended.
    func finish(_ task: URLSessionTask, with error: (any Error)?) {
      let recordID = task.taskDescription ?? ""
      var snapshot = TaskSnapshot(task)
      let (id, sink, file, isUnwanted) = state.withLock { state in
        let id = state.engineIDs.removeValue(forKey: task.id) ?? task.id
        state.sessionIDs[id] = nil
        var file = state.files.removeValue(forKey: task.id)
        // A process before this one has the file and died before it heard the end.
        if file == nil, error == nil,
          let left = state.ends.first(where: {
            $0.value.delivery.file?.description.isOf(task) == true
          })
        {
          state.ends[left.key] = nil
          file = left.value.delivery.file
        }
        return (id, state.sinks.removeValue(forKey: id), file, state.unwanted.remove(id) != nil)
      }
      snapshot.id = id
      snapshot.state = .ended
      snapshot.isDelivered = file != nil
      let copy = error != nil && snapshot.offset == 0 ? copies?.resumeData(of: recordID) : nil
      let delivery = Delivery(
        of: task,
        offset: snapshot.offset,
        file: file,
        copy: copy,
        error: error
      )
      if let sink {
        tell(delivery, id, sink)
      } else if isUnwanted {
        if let file { inbox.remove(file) }
      } else {
        let end = End(snapshot: snapshot, delivery: delivery)
        state.withLock { $0.ends[id] = end }
      }
    }

    private func tell(_ delivery: Delivery, _ id: TaskID, _ sink: any TaskSink) {
      if let file = delivery.file { state.withLock { $0.told[id] = file } }
      delivery.tell(sink)
    }
  }

  extension DeliveryInbox.Description {
    /// Whether it describes what a task has delivered.
    fileprivate func isOf(_ task: URLSessionTask) -> Bool {
      self.task == task.id.rawValue && recordID == task.taskDescription
    }
  }

  extension TaskSnapshot {
    fileprivate init(_ task: URLSessionTask) {
      let range = task.originalRequest?.value(forHTTPHeaderField: "Range") ?? ""
      let offset =
        range.hasPrefix("bytes=") && range.hasSuffix("-") ? range.dropFirst(6).dropLast() : ""
      let state: State =
        switch task.state {
        case .suspended: .suspended
        case .canceling: .canceling
        default: .running
        }
      self.init(
        id: task.id,
        recordID: task.taskDescription ?? "",
        bytesReceived: task.countOfBytesReceived,
        offset: Int64(offset) ?? 0,
        state: state
      )
    }
  }
#endif
