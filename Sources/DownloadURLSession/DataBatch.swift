internal import DownloadSync
internal import Foundation
internal import SystemInterface

/// The data of a busy session that waits to be passed to the sinks.
///
/// The session reports pieces of at most 16 KiB, and a sink writes a file with each call. Joined
/// pieces take fewer calls. Used on the delegate queue only.
final class DataBatch: Sendable {
  /// The pieces of one task, in order.
  struct Pieces {
    let task: LiveTask
    fileprivate(set) var data: [Data]
  }

  private struct State {
    var pieces: [Pieces] = []
    var indices: [TaskID: Int] = [:]
    /// The memory for joined pieces, which is kept.
    var buffer: [UInt8] = []
  }

  /// Accessed on the delegate queue only; the lock satisfies the compiler.
  private let state = Mutex(State())

  /// Adds a piece of a task.
  func add(_ data: Data, of task: LiveTask) {
    state.withLock { state in
      if let index = state.indices[task.gate.id] {
        state.pieces[index].data.append(data)
      } else {
        state.indices[task.gate.id] = state.pieces.count
        state.pieces.append(Pieces(task: task, data: [data]))
      }
    }
  }

  /// Removes and returns all pieces by task, in the order of the first piece of each.
  func takeAll() -> [Pieces] {
    state.withLock { state in
      guard !state.pieces.isEmpty else { return [] }
      defer {
        state.pieces = []
        state.indices = [:]
      }
      return state.pieces
    }
  }

  /// Passes the bytes of a task's pieces to `body`, in one call.
  func join<R>(_ pieces: Pieces, _ body: (Span<UInt8>) -> R) -> R {
    if pieces.data.count == 1 { return body(pieces.data[0].span) }
    // Taken out, because `body` calls a sink, which may block.
    var buffer = state.withLock { state in
      defer { state.buffer = [] }
      return state.buffer
    }
    buffer.removeAll(keepingCapacity: true)
    for data in pieces.data { buffer.append(contentsOf: data) }
    defer { state.withLock { $0.buffer = buffer } }
    return body(buffer.span)
  }
}
