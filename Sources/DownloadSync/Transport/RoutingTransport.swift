internal import Synchronization

/// Sends each task over a background session or over a transport of the foreground, as
/// ``TaskRequest/prefersBackground`` asks for.
///
/// A task that goes on from resume data goes over the background session in any case: the session has
/// left it. A download that changes from one to the other goes on with the bytes that its record
/// counts.
///
/// ```swift
/// let transport = RoutingTransport(
///   foreground: URLSessionTransport(),
///   background: try BackgroundURLSessionTransport(identifier: "downloads", folder: folder)
/// )
/// ```
public final class RoutingTransport: BackgroundTransport {
  /// A task of one of the two transports.
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
  // Held for a look into the tables, and never while a transport is called.
  private let state = Mutex(State())

  /// Creates a transport of two others, which serve nothing else.
  public init(foreground: any Transport, background: any BackgroundTransport) {
    self.foreground = foreground
    self.background = background
  }

  /// Starts a task over the transport that the request asks for.
  public func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    if request.prefersBackground || request.resumeData != nil {
      return id(of: .background(background.start(request, sink: sink)))
    }
    return id(of: .foreground(foreground.start(request, sink: sink)))
  }

  /// Asks a task to end.
  public func cancel(_ task: TaskID) {
    switch route(of: task) {
    case .foreground(let task): foreground.cancel(task)
    case .background(let task): background.cancel(task)
    case nil: break
    }
  }

  /// The tasks of both transports.
  ///
  /// A task of the foreground cannot be adopted: it is described as one that was asked to end.
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

  /// Has a sink hear of a task that was left; one of the foreground ends.
  public func adopt(_ task: TaskID, sink: any TaskSink) {
    switch route(of: task) {
    case .background(let task): background.adopt(task, sink: sink)
    case .foreground(let task):
      foreground.cancel(task)
      sink.finish(.cancelled)
    case nil: sink.finish(.cancelled)
    }
  }

  /// Notes that the end of a task is committed.
  public func acknowledge(_ task: TaskID) {
    let route = state.withLock { state in
      let route = state.routes.removeValue(forKey: task)
      if let route { state.ids[route] = nil }
      return route
    }
    if case .background(let task) = route { background.acknowledge(task) }
  }

  /// The records for which the background session's transport keeps bytes.
  public var keptRecordIDs: [String] { background.keptRecordIDs }

  /// Deletes what the background session's transport keeps for a record.
  public func discardBytes(ofRecord recordID: String) {
    background.discardBytes(ofRecord: recordID)
  }

  /// Has a suspended task go on.
  public func resume(_ task: TaskID) {
    if case .background(let task) = route(of: task) { background.resume(task) }
  }

  /// Has tasks of the background session go on that have fallen silent.
  public func wake() {
    background.wake()
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
