internal import Dispatch
public import DownloadStore
public import DownloadSync
internal import SystemInterface

/// A transport without a network, for tests and simulations.
///
/// It serves the given resources and answers ranges and validators like a server. Tasks run
/// automatically, or step by step under the control of a test.
///
/// ```swift
/// let transport = SimulatedTransport()
/// let body = SimulatedBody(seed: 1, byteCount: 1_000_000)
/// transport.serve(SimulatedResource(body, entityTag: "\"1\""), at: "https://example.com/a")
/// transport.interrupt("https://example.com/a", afterBytes: 5_000, with: lost)
/// let engine = try DownloadEngine(store: store, transport: transport)
/// ```
public final class SimulatedTransport: Transport {
  /// How tasks advance.
  ///
  /// ```swift
  /// let transport = SimulatedTransport(pace: .byHand)
  /// let task = transport.start(request, sink: sink)
  /// transport.advance(task)                   // the head
  /// transport.advance(task, atMost: 1_000)    // bytes of the body
  /// transport.end(task, .failed(DownloadFailure(.connectionLost, "reset")))
  /// ```
  public enum Pace: Sendable, Hashable {
    /// Automatically, as fast as the sink accepts bytes.
    case immediately
    /// Only by ``SimulatedTransport/advance(_:atMost:heedsCancel:)`` and
    /// ``SimulatedTransport/end(_:_:)``.
    case byHand
  }

  private struct Interruption: Sendable {
    var byteCount: Int64
    var failure: DownloadFailure
  }

  private struct Entry: Sendable {
    var task: SimulatedTask
    /// `nil` after the process that started the task has died.
    var sink: (any TaskSink)?
    var interruption: Interruption?
    /// Whether a call to its sink is running.
    var isBusy = false
  }

  private struct State: Sendable {
    var resources: [String: SimulatedResource] = [:]
    var interruptions: [String: [Interruption]] = [:]
    var requests: [TaskRequest] = []
    var entries: [TaskID: Entry] = [:]
    var lastID: UInt64 = 0
  }

  /// The next call to a sink.
  private enum Move: Sendable {
    case head(SimulatedAnswer)
    case bytes([UInt8])
    case end(TaskOutcome)
    case nothing
  }

  private let pace: Pace
  // Held while a few kilobytes are generated; never during a call to a sink.
  private let state = Mutex(State())

  /// Creates a transport without resources.
  public init(pace: Pace = .immediately) {
    self.pace = pace
  }

  // MARK: Resources

  /// Sets the resource at a URL, effective from the next response; `nil` for 404.
  public func serve(_ resource: SimulatedResource?, at url: String) {
    state.withLock { $0.resources[url] = resource }
  }

  /// Makes the next task for a URL fail.
  ///
  /// Several calls apply to successive tasks.
  ///
  /// - Parameters:
  ///   - url: The requested URL.
  ///   - byteCount: The number of body bytes that arrive first; a negative number fails the task
  ///     before the head.
  ///   - failure: The failure.
  public func interrupt(_ url: String, afterBytes byteCount: Int64, with failure: DownloadFailure) {
    state.withLock { state in
      state.interruptions[url, default: []]
        .append(Interruption(byteCount: byteCount, failure: failure))
    }
  }

  /// All requests so far, in the order of their start.
  public var requests: [TaskRequest] { state.withLock { $0.requests } }

  /// The tasks whose sinks have not received `finish`, in the order of their start.
  public var tasks: [SimulatedTask] {
    state.withLock { state in
      state.entries.values.map(\.task).sorted { $0.id.rawValue < $1.id.rawValue }
    }
  }

  // MARK: Control

  /// Advances a task by one event: its head, then bytes, then its end.
  ///
  /// - Parameters:
  ///   - id: The task.
  ///   - byteCount: The maximum number of bytes that arrive.
  ///   - heedsCancel: Whether a cancelled task ends now; otherwise bytes in flight arrive first.
  /// - Returns: Whether the task continues.
  @discardableResult
  public func advance(
    _ id: TaskID,
    atMost byteCount: Int64 = 65_536,
    heedsCancel: Bool = true
  ) -> Bool {
    tell(id) { task, interruption, resource in
      if task.isRefused || (task.isCancelled && heedsCancel) { return .end(.cancelled) }
      if let interruption, interruption.byteCount < 0 || interruption.byteCount <= task.bytesSent,
        task.answer != nil || interruption.byteCount < 0
      {
        return .end(.failed(interruption.failure))
      }
      guard let answer = task.answer else {
        return .head(SimulatedAnswer(to: task.request, from: resource))
      }
      let limit = interruption.map { min(byteCount, $0.byteCount - task.bytesSent) } ?? byteCount
      let part = task.next(atMost: limit)
      return part.isEmpty ? .end(.completed) : .bytes(answer.bytes(part))
    }
  }

  /// Ends a task with an outcome.
  public func end(_ id: TaskID, _ outcome: TaskOutcome) {
    tell(id) { _, _, _ in .end(outcome) }
  }

  /// Simulates the death of the process that started the tasks: their sinks are not called again.
  ///
  /// ```swift
  /// transport.crash(keepsTasks: true)
  /// let remaining = await transport.liveTasks()
  /// ```
  ///
  /// - Parameter keepsTasks: Whether the tasks continue, like those of a background session, and
  ///   are listed by ``liveTasks()`` until they end.
  public func crash(keepsTasks: Bool = false) {
    state.withLock { state in
      for id in state.entries.keys { state.entries[id]?.sink = nil }
      if !keepsTasks { state.entries = [:] }
    }
  }

  // MARK: Transport

  /// Starts a task.
  public func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    let id = state.withLock { state -> TaskID in
      state.lastID += 1
      let id = TaskID(rawValue: state.lastID)
      var interruption: Interruption?
      if var waiting = state.interruptions[request.url], !waiting.isEmpty {
        interruption = waiting.removeFirst()
        state.interruptions[request.url] = waiting
      }
      state.requests.append(request)
      state.entries[id] = Entry(
        task: SimulatedTask(id: id, request: request),
        sink: sink,
        interruption: interruption
      )
      return id
    }
    if pace == .immediately {
      DispatchQueue.global().async { while self.advance(id) {} }
    }
    return id
  }

  /// Cancels a task; with manual pace it ends when it is advanced.
  public func cancel(_ task: TaskID) {
    state.withLock { $0.entries[task]?.task.isCancelled = true }
  }

  /// The tasks that have not ended.
  public func liveTasks() async -> [TaskSnapshot] {
    tasks.map {
      TaskSnapshot(id: $0.id, recordID: $0.request.recordID, bytesReceived: $0.bytesSent)
    }
  }

  // MARK: -

  /// Calls the sink of a task; returns whether the task continues.
  @discardableResult
  private func tell(
    _ id: TaskID,
    _ choose: (SimulatedTask, Interruption?, SimulatedResource?) -> Move
  ) -> Bool {
    let (move, sink) = state.withLock { state -> (Move, (any TaskSink)?) in
      guard let entry = state.entries[id], !entry.isBusy else { return (.nothing, nil) }
      let move = choose(entry.task, entry.interruption, state.resources[entry.task.request.url])
      switch move {
      case .head(let answer): state.entries[id]?.task.answer = answer
      case .bytes(let bytes): state.entries[id]?.task.bytesSent += Int64(bytes.count)
      case .end: state.entries[id] = nil
      case .nothing: break
      }
      state.entries[id]?.isBusy = true
      return (move, entry.sink)
    }
    var disposition = BodyDisposition.proceed
    switch move {
    case .head(let answer): disposition = sink?.receive(answer.head) ?? .proceed
    case .bytes(let bytes): disposition = sink?.receive(bytes.span) ?? .proceed
    case .end(let outcome): sink?.finish(outcome)
    case .nothing: return false
    }
    return state.withLock { state in
      guard state.entries[id] != nil else { return false }
      state.entries[id]?.isBusy = false
      if disposition == .cancel { state.entries[id]?.task.isRefused = true }
      return true
    }
  }
}
