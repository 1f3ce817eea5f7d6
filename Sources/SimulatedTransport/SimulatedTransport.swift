internal import Dispatch
public import DownloadSync
internal import Synchronization

/// A transport without a network: for tests of what is built on an engine, and for simulations.
///
/// It serves what it is told to serve, with the answers that a server gives to ranges and
/// validators. At once, or by hand: then nothing happens to a task but what a test has happen, in
/// the order that the test chooses.
///
/// ```swift
/// let transport = SimulatedTransport()
/// let body = SimulatedBody(seed: 1, byteCount: 1_000_000)
/// transport.serve(SimulatedResource(body, entityTag: "\"1\""), at: "https://example.com/a")
/// transport.interrupt("https://example.com/a", afterBytes: 5_000, with: lost)
/// let engine = try DownloadEngine(store: store, transport: transport)
/// ```
public final class SimulatedTransport: Transport {
  /// When something happens to tasks.
  public enum Pace: Sendable, Hashable {
    /// Each task goes on by itself, as fast as its sink takes the bytes.
    case atOnce
    /// Tasks do what ``SimulatedTransport/advance(_:atMost:heedsCancel:)`` and
    /// ``SimulatedTransport/end(_:_:)`` say.
    case byHand
  }

  private struct Interruption: Sendable {
    var byteCount: Int64
    var failure: TaskFailure
  }

  private struct Entry: Sendable {
    var task: SimulatedTask
    /// `nil` when nobody hears of the task any more.
    var sink: (any TaskSink)?
    var interruption: Interruption?
    /// Whether its sink is being told something.
    var isBusy = false
  }

  private struct State: Sendable {
    var resources: [String: SimulatedResource] = [:]
    var interruptions: [String: [Interruption]] = [:]
    var requests: [TaskRequest] = []
    var entries: [TaskID: Entry] = [:]
    var lastID: UInt64 = 0
  }

  /// What is told to a sink next.
  private enum Move: Sendable {
    case head(SimulatedAnswer)
    case bytes([UInt8])
    case end(TaskOutcome)
    case nothing
  }

  private let pace: Pace
  // Held for as long as some kilobytes take to be made; never while a sink is told something.
  private let state = Mutex(State())

  /// Makes a transport that serves nothing yet.
  public init(pace: Pace = .atOnce) {
    self.pace = pace
  }

  // MARK: What is served

  /// Has a URL answer with the resource from the next answer on; with `nil`, as one that is not
  /// found.
  public func serve(_ resource: SimulatedResource?, at url: String) {
    state.withLock { $0.resources[url] = resource }
  }

  /// Has the next task for the URL, of those for which nothing was said yet, break.
  ///
  /// - Parameters:
  ///   - url: The URL that is asked.
  ///   - byteCount: How many bytes of the body arrive before it; a negative number breaks it before
  ///     the head.
  ///   - failure: How it breaks.
  public func interrupt(_ url: String, afterBytes byteCount: Int64, with failure: TaskFailure) {
    state.withLock { state in
      state.interruptions[url, default: []]
        .append(Interruption(byteCount: byteCount, failure: failure))
    }
  }

  /// Every request so far, in the order of the starts.
  public var requests: [TaskRequest] { state.withLock { $0.requests } }

  /// The tasks whose sinks have not been told the end, in the order of their starts.
  public var tasks: [SimulatedTask] {
    state.withLock { state in
      state.entries.values.map(\.task).sorted { $0.id.rawValue < $1.id.rawValue }
    }
  }

  // MARK: What happens

  /// Has the next thing happen to a task: its head, then bytes, then its end.
  ///
  /// - Parameters:
  ///   - id: The task.
  ///   - byteCount: The most bytes that arrive.
  ///   - heedsCancel: Whether a task that was cancelled ends; otherwise what was on its way arrives
  ///     first.
  /// - Returns: Whether the task goes on.
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

  /// Has a task end like that, whatever it has sent.
  public func end(_ id: TaskID, _ outcome: TaskOutcome) {
    tell(id) { _, _, _ in .end(outcome) }
  }

  /// Has the process die that tasks were started by: no sink hears of them any more.
  ///
  /// - Parameter keepsTasks: Whether the tasks go on, as those of a background session do, and are
  ///   told of by ``liveTasks()`` until they end.
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
    if pace == .atOnce {
      DispatchQueue.global().async { while self.advance(id) {} }
    }
    return id
  }

  /// Asks a task to end; by hand, it does so when it is advanced.
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

  /// Tells the sink of a task what the move says; whether the task goes on.
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
