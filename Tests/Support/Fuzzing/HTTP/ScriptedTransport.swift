internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import SystemInterface

/// A transport without a network, whose server is a script.
///
/// It handles redirects like the real transports. Tasks advance only in ``step()``.
final class ScriptedTransport: Transport {
  private enum Phase: Sendable {
    case request(PreparedRequest)
    case body(ScriptedServer.Answer, sent: Int)
    case end(TaskOutcome)
  }

  private struct Entry: Sendable {
    var id: TaskID
    var request: TaskRequest
    var sink: any TaskSink
    var phase: Phase
  }

  private struct State: Sendable {
    var entries: [Entry] = []
    var lastID: UInt64 = 0
    var stopsDue = 0
  }

  private let server: ScriptedServer
  private let url: String
  // Used by one thread; the lock satisfies the compiler.
  private let state = Mutex(State())

  /// Creates the transport of a download of a URL.
  init(_ server: ScriptedServer, url: String) {
    self.server = server
    self.url = url
  }

  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    let phase: Phase
    do throws(DownloadFailure) {
      phase = .request(try PreparedRequest(request))
    } catch {
      phase = .end(.failed(error))
    }
    return state.withLock { state in
      state.lastID += 1
      let id = TaskID(rawValue: state.lastID)
      state.entries.append(Entry(id: id, request: request, sink: sink, phase: phase))
      return id
    }
  }

  func cancel(_ task: TaskID) {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.id == task }) else { return }
      state.entries[index].phase = .end(.cancelled)
    }
  }

  func liveTasks() async -> [TaskSnapshot] {
    state.withLock { state in
      state.entries.map {
        TaskSnapshot(id: $0.id, recordID: $0.request.recordID, bytesReceived: 0)
      }
    }
  }

  /// Returns whether a script has requested a stop of the engine since the last call.
  func takeStop() -> Bool {
    state.withLock { state in
      defer { state.stopsDue = 0 }
      return state.stopsDue > 0
    }
  }

  /// Advances the oldest task.
  ///
  /// - Returns: Whether there was a task.
  func step() throws -> Bool {
    guard var entry = state.withLock({ $0.entries.first }) else { return false }
    switch entry.phase {
    case .request(let hop): entry.phase = try answer(hop, of: entry)
    case .body(let answer, let sent): entry.phase = send(answer, from: sent, to: entry.sink)
    case .end(let outcome):
      state.withLock { state in state.entries.removeAll { $0.id == entry.id } }
      entry.sink.finish(outcome)
      return true
    }
    let next = entry
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.id == next.id }) else { return }
      // A task that was cancelled in the meantime ends.
      if case .end = state.entries[index].phase { return }
      state.entries[index] = next
    }
    return true
  }

  private func answer(_ hop: PreparedRequest, of entry: Entry) throws -> Phase {
    let target = hop.url.text
    if let violation = Secrets.violation(in: hop.fields, to: target, from: url) { throw violation }
    let answer = server.answer(
      offset: entry.request.offset,
      validator: hop.fields.first { $0.name == "If-Range" }?.value
    )
    guard let status = answer.head.status, status >= 200 else {
      return .end(.failed(DownloadFailure(.badResponse, "not a final response")))
    }
    if RedirectDecision.statuses.contains(status), let location = answer.head["Location"] {
      switch RedirectDecision(hop, to: location) {
      case .follow(let next): return .request(next)
      case .refuse(let reason):
        return .end(.failed(DownloadFailure(.badRedirect, reason)))
      }
    }
    let head = ResponseHead(status: status, fields: answer.head.fields, url: target)
    try HeadProperties.check(head)
    return entry.sink.receive(head) == .cancel ? .end(.cancelled) : .body(answer, sent: 0)
  }

  private func send(
    _ answer: ScriptedServer.Answer,
    from sent: Int,
    to sink: any TaskSink
  ) -> Phase {
    let plan = answer.plan
    let length = answer.head.contentLength
    // As HTTP requires, bytes beyond the length do not belong to the body.
    let end =
      plan.ending == .fitting
      ? Int(min(Int64(plan.byteCount), length ?? .max)) : plan.byteCount
    guard sent < end else {
      switch plan.ending {
      case .complete: return .end(.completed)
      case .fitting where length.map({ $0 <= Int64(plan.byteCount) }) ?? true:
        return .end(.completed)
      case .silent: return .end(.failed(DownloadFailure(.timedOut, "silence")))
      case .fitting, .lost, .stop:
        return .end(.failed(DownloadFailure(.connectionLost, "lost")))
      }
    }
    let count = min(plan.pieceSize, end - sent)
    let bytes = answer.part.bytes(from: sent, count: count)
    guard sink.receive(bytes.span) == .proceed else { return .end(.cancelled) }
    if plan.ending == .stop, sent + count >= end / 2, sent < end / 2 {
      state.withLock { $0.stopsDue += 1 }
    }
    return .body(answer, sent: sent + count)
  }
}
