#if canImport(Darwin)
  internal import DownloadSync
  internal import Foundation
  internal import Synchronization

  /// Who hears of the tasks of a background session, and what nobody has heard of yet.
  final class DownloadTaskTable: Sendable {
    /// What there is to tell of a task that has ended.
    private struct End: Sendable {
      var snapshot: TaskSnapshot
      var delivery: Delivery
    }

    private struct State: Sendable {
      var sinks: [TaskID: any TaskSink] = [:]
      /// The delivered files of tasks whose end is about to come.
      var files: [TaskID: String] = [:]
      var ends: [TaskID: End] = [:]
      /// Tasks that nobody wants to hear of.
      var unwanted: Set<TaskID> = []
      var hasLooked = false
      var unused = UInt64.max
    }

    private let folder: String
    // Held for a look, and never while a sink is told something.
    private let state = Mutex(State())

    init(folder: String) {
      self.folder = folder
    }

    /// Whether this is the first time that it is asked.
    var isFirstLook: Bool {
      state.withLock { state in
        defer { state.hasLooked = true }
        return !state.hasLooked
      }
    }

    /// The name of a task that was never made.
    func unusedID() -> TaskID {
      state.withLock { state in
        state.unused -= 1
        return TaskID(rawValue: state.unused)
      }
    }

    func add(_ task: URLSessionDownloadTask, sink: any TaskSink) {
      state.withLock { $0.sinks[task.id] = sink }
    }

    /// Notes that a task is to end; the end of one of which nobody hears is forgotten.
    func noteCancel(_ id: TaskID) {
      let end = state.withLock { state -> End? in
        if state.sinks[id] == nil { state.unwanted.insert(id) }
        return state.sinks[id] == nil ? state.ends.removeValue(forKey: id) : nil
      }
      end?.delivery.discard()
    }

    /// Tells a sink of a task that has ended; false when it has not, as far as is known.
    func adopt(_ id: TaskID, sink: any TaskSink) -> Bool {
      guard let end = state.withLock({ $0.ends.removeValue(forKey: id) }) else { return false }
      end.delivery.tell(sink)
      return true
    }

    /// What is known of the session's tasks, and of those that have ended.
    func snapshots(of tasks: [URLSessionDownloadTask]) -> [TaskSnapshot] {
      let ends = state.withLock { $0.ends }
      let live = tasks.filter { ends[$0.id] == nil && $0.state != .completed }.map(
        TaskSnapshot.init
      )
      return (live + ends.values.map(\.snapshot)).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    // MARK: What the session says

    func sink(of task: URLSessionTask) -> (any TaskSink)? {
      state.withLock { $0.sinks[task.id] }
    }

    /// Takes a delivered file, which the session deletes when this returns.
    func take(_ file: URL, of task: URLSessionTask) {
      let path = "\(folder)/\(task.id.rawValue).delivered"
      try? FileManager.default.removeItem(atPath: path)
      guard (try? FileManager.default.moveItem(atPath: file.path, toPath: path)) != nil else {
        return
      }
      state.withLock { $0.files[task.id] = path }
    }

    /// A task has ended.
    func finish(_ task: URLSessionTask, with error: (any Error)?) {
      let (sink, file, isUnwanted) = state.withLock { state in
        (
          state.sinks.removeValue(forKey: task.id), state.files.removeValue(forKey: task.id),
          state.unwanted.remove(task.id) != nil
        )
      }
      var snapshot = TaskSnapshot(task)
      snapshot.state = .ended
      let delivery = Delivery(of: task, offset: snapshot.offset, file: file, error: error)
      if let sink {
        delivery.tell(sink)
      } else if isUnwanted {
        delivery.discard()
      } else {
        let end = End(snapshot: snapshot, delivery: delivery)
        state.withLock { $0.ends[task.id] = end }
      }
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
