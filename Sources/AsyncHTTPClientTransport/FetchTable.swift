#if AsyncHTTPClient
  internal import DownloadSync
  internal import Synchronization

  /// The live tasks, by their name.
  final class FetchTable: Sendable {
    private struct State {
      var lastID: UInt64 = 0
      var fetches: [TaskID: Fetch] = [:]
    }

    // Held for a look into the dictionary, and never while a sink is called.
    private let state = Mutex(State())

    /// Makes a task with a name that no other task of the table had.
    func add(recordID: String, sink: any TaskSink) -> Fetch {
      state.withLock { state in
        state.lastID += 1
        let gate = SinkGate(id: TaskID(rawValue: state.lastID), recordID: recordID, sink: sink) {
          [weak self] id in
          self?.remove(id)
        }
        let fetch = Fetch(gate: gate)
        state.fetches[gate.id] = fetch
        return fetch
      }
    }

    /// The live task with that name.
    subscript(_ id: TaskID) -> Fetch? {
      state.withLock { $0.fetches[id] }
    }

    /// All live tasks, oldest first.
    var all: [Fetch] {
      state.withLock { Array($0.fetches.values) }
        .sorted { $0.gate.id.rawValue < $1.gate.id.rawValue }
    }

    private func remove(_ id: TaskID) {
      // The last reference may go with it, and what a sink does when it is released is not ours to
      // run under the lock.
      _ = state.withLock { $0.fetches.removeValue(forKey: id) }
    }
  }
#endif
