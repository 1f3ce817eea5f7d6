internal import DownloadStore
public import DownloadSync
internal import Foundation
internal import ResumeData
internal import Synchronization

/// A background session as Apple's systems have it, without the system: for tests of what is built on
/// an engine, where there is none.
///
/// The bytes of a task lie in a file of the session's folder, under a name such as
/// `CFNetworkDownload_0000A1.tmp`, until the task has ended. Tasks outlive the application
/// (``crash()``), may be suspended by the system or fall silent, leave resume data in the form of iOS
/// 12 and later, and go on from resume data of every form that names a file of the folder.
///
/// ```swift
/// let transport = try SimulatedBackgroundTransport(folder: path)
/// transport.network.serve(SimulatedResource(body, entityTag: "\"1\""), at: url)
/// let engine = try DownloadEngine(store: store, transport: transport)
/// ```
public final class SimulatedBackgroundTransport: BackgroundTransport {
  private struct State: Sendable {
    var tasks: [TaskID: HeldTask] = [:]
    var lastID: UInt64 = 0
    var leavesResumeData = true
    var requests: [TaskRequest] = []
  }

  /// What is served, and what breaks.
  ///
  /// Its tasks are those of the session and not of the application.
  public let network = SimulatedTransport(pace: .byHand)
  private let folder: String
  private let pace: SimulatedTransport.Pace
  // Held for a look into the tables, and never while a sink is told something.
  private let state = Mutex(State())

  /// Makes a session whose files lie in a folder, which is made.
  ///
  /// - Parameters:
  ///   - folder: Where the files lie.
  ///   - pace: When something happens to tasks; by hand, ``advance(_:atMost:)`` has it happen.
  /// - Throws: What `FileManager` throws.
  public init(folder: String, pace: SimulatedTransport.Pace = .atOnce) throws {
    self.folder = folder
    self.pace = pace
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  // MARK: What happens

  /// Whether tasks that end early leave resume data.
  ///
  /// Without, as when a network is lost that the system cannot make anything of, their files go too.
  public var leavesResumeData: Bool {
    get { state.withLock { $0.leavesResumeData } }
    set { state.withLock { $0.leavesResumeData = newValue } }
  }

  /// Every request so far, in the order of the starts.
  public var requests: [TaskRequest] { state.withLock { $0.requests } }

  /// The tasks of the session, and those that have ended and nobody has heard how; in the order of
  /// their starts.
  public var tasks: [TaskSnapshot] { all.map(\.snapshot) }

  /// The URL that a task asks; `nil` when there is no such task.
  public func url(of task: TaskID) -> String? { self[task]?.request.url }

  /// Has the application die: no sink hears of its tasks any more, which go on and can be adopted.
  public func crash() {
    for task in all { task.letGo() }
  }

  /// Has the next thing happen to a task, unless it is suspended or silent.
  ///
  /// - Returns: Whether the task goes on.
  @discardableResult
  public func advance(_ id: TaskID, atMost byteCount: Int64 = 65_536) -> Bool {
    guard let task = self[id], task.moves, let work = task.work else { return false }
    return network.advance(work, atMost: byteCount)
  }

  /// Suspends a task, as the system may.
  public func suspend(_ task: TaskID) {
    self[task]?.isSuspended = true
  }

  /// Has tasks fall silent: they seem to run, and nothing arrives until ``wake()``.
  public func fallSilent() {
    for task in all { task.isSilent = true }
  }

  // MARK: BackgroundTransport

  /// Starts a task, from resume data if the request has some.
  public func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    let (id, number) = state.withLock { state in
      state.lastID += 1
      state.requests.append(request)
      return (TaskID(rawValue: state.lastID), state.lastID)
    }
    let task: HeldTask
    do {
      let file = try HeldFile(for: request, number: number, in: folder)
      task = HeldTask(
        id: id,
        request: request,
        file: file,
        sink: sink,
        leavesResumeData: { [weak self] in self?.leavesResumeData ?? false },
        onEnd: { [weak self] in self?.forget(id) }
      )
    } catch {
      sink.finish(.failed(error))
      return id
    }
    state.withLock { $0.tasks[id] = task }
    task.work = network.start(task.file.networkRequest(for: request), sink: task)
    drive(task)
    return id
  }

  /// Asks a task to end; it leaves resume data if it can.
  ///
  /// By hand, it ends when it is advanced.
  public func cancel(_ task: TaskID) {
    guard let task = self[task] else { return }
    task.isCanceling = true
    if let work = task.work { network.cancel(work) }
    drive(task)
  }

  /// What ``tasks`` has.
  public func liveTasks() async -> [TaskSnapshot] {
    tasks
  }

  /// Has a sink hear of a task that was left.
  public func adopt(_ task: TaskID, sink: any TaskSink) {
    if let task = self[task] { task.adopt(sink) } else { sink.finish(.cancelled) }
  }

  /// Has a suspended task go on.
  public func resume(_ task: TaskID) {
    guard let task = self[task] else { return }
    task.isSuspended = false
    drive(task)
  }

  /// Has tasks go on that have fallen silent.
  public func wake() {
    for task in all {
      task.isSilent = false
      drive(task)
    }
  }

  // MARK: -

  private subscript(_ id: TaskID) -> HeldTask? { state.withLock { $0.tasks[id] } }

  private var all: [HeldTask] {
    state.withLock { $0.tasks.values.sorted { $0.id.rawValue < $1.id.rawValue } }
  }

  private func forget(_ id: TaskID) {
    state.withLock { _ = $0.tasks.removeValue(forKey: id) }
  }

  private func drive(_ task: HeldTask) {
    guard pace == .atOnce else { return }
    DispatchQueue.global().async { while self.advance(task.id) {} }
  }
}
