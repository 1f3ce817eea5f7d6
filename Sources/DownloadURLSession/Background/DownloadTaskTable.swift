#if canImport(Darwin)
  internal import DownloadSync
  internal import Foundation
  internal import SystemInterface

  /// The sinks of a background session's tasks, and the ends that no sink has received yet.
  ///
  /// The engine identifies a task by the number that it had when it was started or adopted. The
  /// table may replace the session task by another one, which continues from its resume data.
  final class DownloadTaskTable: Sendable {
    /// The end of a task.
    private struct End: Sendable {
      var snapshot: TaskSnapshot
      var delivery: Delivery
    }

    private struct State: Sendable {
      var sinks: [TaskID: any TaskSink] = [:]
      /// The delivered files of tasks whose end the session has not reported yet.
      var files: [TaskID: DeliveryInbox.Delivery] = [:]
      var ends: [TaskID: End] = [:]
      /// The delivered files that were passed to sinks and not acknowledged yet.
      var told: [TaskID: DeliveryInbox.Delivery] = [:]
      /// Tasks that were cancelled without a sink; their ends are dropped.
      var unwanted: Set<TaskID> = []
      /// Tasks that end only to leave resume data.
      var asked: Set<TaskID> = []
      /// The engine's number of a task that replaced another one, and the reverse mapping.
      var engineIDs: [TaskID: TaskID] = [:]
      var sessionIDs: [TaskID: TaskID] = [:]
      var hasRead = false
      var unused = UInt64.max
    }

    private let inbox: DeliveryInbox
    private let copies: TemporaryFileCopies?
    // Held for dictionary accesses; never during a call to a sink.
    private let state = Mutex(State())

    /// Creates a table with the deliveries that earlier processes left in the inbox.
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

    /// True at the first read, false from then on.
    var isFirstRead: Bool {
      state.withLock { state in
        defer { state.hasRead = true }
        return !state.hasRead
      }
    }

    /// Returns a number that no task of the session has.
    func unusedID() -> TaskID {
      state.withLock { state in
        state.unused -= 1
        return TaskID(rawValue: state.unused)
      }
    }

    func add(_ task: URLSessionDownloadTask, sink: any TaskSink) {
      state.withLock { $0.sinks[$0.engineIDs[task.id] ?? task.id] = sink }
    }

    /// Returns the session's identifier of a task.
    func sessionID(of id: TaskID) -> TaskID {
      state.withLock { $0.sessionIDs[id] ?? id }
    }

    /// Notes a cancel; without a sink the end of the task and its delivered file are dropped.
    func noteCancel(_ id: TaskID) {
      let end = state.withLock { state -> End? in
        state.asked.remove(state.sessionIDs[id] ?? id)
        if state.sinks[id] == nil { state.unwanted.insert(id) }
        return state.sinks[id] == nil ? state.ends.removeValue(forKey: id) : nil
      }
      if let file = end?.delivery.file { inbox.remove(file) }
    }

    /// Connects a sink to an ended task and passes the end to it; returns false if no end is known.
    func adopt(_ id: TaskID, sink: any TaskSink) -> Bool {
      guard let end = state.withLock({ $0.ends.removeValue(forKey: id) }) else { return false }
      sink.report(held: end.snapshot.bytesReceived, of: nil)
      tell(end.delivery, id, sink)
      return true
    }

    /// Deletes the delivered file and the copy of a task whose end has been committed to the store.
    func acknowledge(_ id: TaskID) {
      guard let file = state.withLock({ $0.told.removeValue(forKey: id) }) else { return }
      copies?.forget(file.description.recordID)
      inbox.remove(file)
    }

    /// Returns snapshots of the session's live tasks and of the ended ones that no sink has
    /// received, sorted by number.
    func snapshots(of tasks: [URLSessionDownloadTask]) -> [TaskSnapshot] {
      let (ends, engineIDs) = state.withLock { ($0.ends, $0.engineIDs) }
      let live = tasks.compactMap { task -> TaskSnapshot? in
        var snapshot = TaskSnapshot(task)
        snapshot.id = engineIDs[task.id] ?? task.id
        return ends[snapshot.id] == nil && task.state != .completed ? snapshot : nil
      }
      return (live + ends.values.map(\.snapshot)).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    // MARK: Callbacks of the session

    func sink(of task: URLSessionTask) -> (any TaskSink)? {
      state.withLock { $0.sinks[$0.engineIDs[task.id] ?? task.id] }
    }

    /// Copies the temporary file of a task that has received bytes.
    ///
    /// - Returns: Whether the task must first be cancelled to produce resume data, which names its
    ///   file.
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

    /// Whether a task has ended only to leave resume data; true once.
    func takeAskedForResumeData(_ task: URLSessionTask, _ error: (any Error)?) -> Bool {
      state.withLock { $0.asked.remove(task.id) != nil } && (error as? URLError)?.code == .cancelled
    }

    /// Replaces a task that has left resume data by the one that continues from it.
    func replace(_ old: URLSessionTask, with new: URLSessionTask) {
      state.withLock { state in
        let id = state.engineIDs.removeValue(forKey: old.id) ?? old.id
        state.engineIDs[new.id] = id
        state.sessionIDs[id] = new.id
      }
    }

    /// Moves a delivered file into the inbox; the session deletes the file after this returns.
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

    /// Passes the end of a task to its sink, or keeps it until a sink is connected.
    func finish(_ task: URLSessionTask, with error: (any Error)?) {
      let recordID = task.taskDescription ?? ""
      var snapshot = TaskSnapshot(task)
      let (id, sink, file, isUnwanted) = state.withLock { state in
        let id = state.engineIDs.removeValue(forKey: task.id) ?? task.id
        state.sessionIDs[id] = nil
        var file = state.files.removeValue(forKey: task.id)
        // An earlier process stored the file and died before it received the end.
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
    /// Whether the description is that of a task's delivery.
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
