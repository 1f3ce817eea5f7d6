internal import SystemInterface

/// A transport that runs each task on a background transport or on a foreground transport, as
/// ``TaskRequest/prefersBackground`` asks.
///
/// A task with resume data always runs on the background transport, which produced the data. A
/// download that changes from one transport to the other continues from the bytes that its record
/// counts. No task is authorized by a ``RequestAuthorizer``, also not in the foreground.
///
/// ```swift
/// let transport = RoutingTransport(
///   foreground: URLSessionTransport(),
///   background: try BackgroundURLSessionTransport(identifier: "downloads", folder: folder)
/// )
/// ```
public final class RoutingTransport: BackgroundTransport {
  /// A task's id in one of the two transports.
  private enum Route: Sendable, Hashable {
    case foreground(TaskID)
    case background(TaskID)
  }

  private struct State: Sendable {
    var lastID: UInt64 = 0
    var routes: [TaskID: Route] = [:]
    var ids: [Route: TaskID] = [:]
  }

  private let foreground: any Transport
  private let background: any BackgroundTransport
  // Held for dictionary accesses; never during a call to a transport.
  private let state = Mutex(State())

  /// Creates a transport from two others, which must not be used for anything else.
  public init(foreground: any Transport, background: any BackgroundTransport) {
    self.foreground = foreground
    self.background = background
  }

  /// Starts a task on the transport that the request asks for.
  public func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    if request.prefersBackground || request.resumeData != nil {
      return id(of: .background(background.start(request, sink: sink)))
    }
    return id(of: .foreground(foreground.start(request, sink: sink)))
  }

  /// Cancels a task.
  public func cancel(_ task: TaskID) {
    switch route(of: task) {
    case .foreground(let task): foreground.cancel(task)
    case .background(let task): background.cancel(task)
    case nil: break
    }
  }

  /// The tasks of both transports.
  ///
  /// Foreground tasks cannot be adopted, so their state is `canceling`.
  public func liveTasks() async -> [TaskSnapshot] {
    var tasks: [TaskSnapshot] = []
    for var task in await background.liveTasks() {
      task.id = id(of: .background(task.id))
      tasks.append(task)
    }
    for var task in await foreground.liveTasks() {
      task.id = id(of: .foreground(task.id))
      task.state = .canceling
      tasks.append(task)
    }
    return tasks
  }

  /// Connects a sink to a task that an earlier process started; a foreground task is cancelled
  /// instead.
  public func adopt(_ task: TaskID, sink: any TaskSink) {
    switch route(of: task) {
    case .background(let task): background.adopt(task, sink: sink)
    case .foreground(let task):
      foreground.cancel(task)
      sink.finish(.cancelled)
    case nil: sink.finish(.cancelled)
    }
  }

  /// Deletes what the background transport keeps of a task whose end has been committed to the
  /// store.
  public func acknowledge(_ task: TaskID) {
    let route = state.withLock { state in
      let route = state.routes.removeValue(forKey: task)
      if let route { state.ids[route] = nil }
      return route
    }
    if case .background(let task) = route { background.acknowledge(task) }
  }

  /// The ids of the records for which the background transport keeps bytes outside its tasks.
  public var keptRecordIDs: [String] { background.keptRecordIDs }

  /// Deletes the bytes that the background transport keeps for a record outside its tasks.
  public func discardBytes(ofRecord recordID: String) {
    background.discardBytes(ofRecord: recordID)
  }

  /// Resumes a suspended background task; has no effect on a foreground task.
  public func resume(_ task: TaskID) {
    if case .background(let task) = route(of: task) { background.resume(task) }
  }

  /// Resumes background tasks that have stalled.
  public func wake() {
    background.wake()
  }

  /// The lower limit of the two transports.
  ///
  /// Each has its own limit, so that both together may transfer more.
  public var bytesPerSecond: Int64? {
    [foreground.bytesPerSecond, background.bytesPerSecond].compactMap { $0 }.min()
  }

  /// Applies the rate limit of the store to both transports.
  public func follow(rateLimit limit: Int64?) {
    foreground.follow(rateLimit: limit)
    background.follow(rateLimit: limit)
  }

  private func route(of task: TaskID) -> Route? {
    state.withLock { $0.routes[task] }
  }

  private func id(of route: Route) -> TaskID {
    state.withLock { state in
      if let id = state.ids[route] { return id }
      state.lastID += 1
      let id = TaskID(rawValue: state.lastID)
      state.ids[route] = id
      state.routes[id] = route
      return id
    }
  }
}
