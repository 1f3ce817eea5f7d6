internal import DownloadStore
public import DownloadSync
internal import Foundation
package import ResumeData
internal import Synchronization

/// A background session as Apple's systems have it, without the system: for tests of what is built on
/// an engine, where there is none.
///
/// The bytes of a task lie in a file of the session's folder, under a name such as
/// `CFNetworkDownload_0000A1.tmp`, until the task has ended. Tasks outlive the application
/// (``crash()``), may be suspended by the system or fall silent, leave resume data in the form of iOS
/// 12 and later, and go on from resume data of every form that names a file of the folder.
///
/// The session tells each end once, to the process that is there. A process that dies before it has
/// dealt with an end has lost it, unless the transport has kept it.
///
/// ```swift
/// let transport = try SimulatedBackgroundTransport(folder: path)
/// transport.network.serve(SimulatedResource(body, entityTag: "\"1\""), at: url)
/// let engine = try DownloadEngine(store: store, transport: transport)
/// ```
public final class SimulatedBackgroundTransport: BackgroundTransport {
  /// What a process was told of a task that has ended.
  private struct End: Sendable {
    var snapshot: TaskSnapshot
    var outcome: TaskOutcome
    var resumeData: Data?
    var delivery: DeliveryInbox.Delivery?
  }

  private struct State: Sendable {
    var tasks: [TaskID: HeldTask] = [:]
    var lastID: UInt64 = 0
    var leavesResumeData = true
    var requests: [TaskRequest] = []
    // What follows is the process's: a crash loses it.
    /// Whether the process has made the session, which tells it of ends from then on.
    var isConnected = true
    /// The ends that no sink has heard of.
    var ends: [TaskID: End] = [:]
    /// The tasks that are to end, and whose ends no sink hears.
    var unwanted: Set<TaskID> = []
    /// The bodies that sinks have heard, until they are acknowledged.
    var told: [TaskID: DeliveryInbox.Delivery] = [:]
    /// The number of the last delivery that an earlier process has left.
    var lastLeftover = UInt64.max
  }

  /// What is served, and what breaks.
  ///
  /// Its tasks are those of the session and not of the application.
  public let network = SimulatedTransport(pace: .byHand)
  private let folder: String
  private let pace: SimulatedTransport.Pace
  private let inbox: DeliveryInbox
  private let adoptsDeliveries: Bool
  private let copies: TemporaryFileCopies?
  private let system: ResumeData.Consumer
  // Held for a look into the tables and for moving a delivered file, and never while a sink is told
  // something.
  private let state = Mutex(State())

  /// Makes a session whose files lie in a folder, which is made.
  ///
  /// - Parameters:
  ///   - folder: Where the files lie. Delivered files are kept beside it, in `FOLDER-inbox`.
  ///   - pace: When something happens to tasks; by hand, ``advance(_:atMost:)`` has it happen.
  /// - Throws: What `FileManager` throws.
  public convenience init(folder: String, pace: SimulatedTransport.Pace = .atOnce) throws {
    try self.init(folder: folder, pace: pace, adoptsDeliveries: true, copyInterval: nil)
  }

  /// Makes a session of a particular system.
  ///
  /// - Parameters:
  ///   - folder: As in the public initialiser. Copies are kept beside it, in `FOLDER-copies`.
  ///   - pace: As in the public initialiser.
  ///   - adoptsDeliveries: Whether deliveries of an earlier process are found; without, the simulation
  ///     has to notice it.
  ///   - copyInterval: How many bytes arrive between two copies of a temporary file; no copies if
  ///     `nil`.
  ///   - system: Which resume data the system produces and takes.
  /// - Throws: What `FileManager` throws.
  package init(
    folder: String,
    pace: SimulatedTransport.Pace,
    adoptsDeliveries: Bool = true,
    copyInterval: Int64?,
    system: ResumeData.Consumer = .identity
  ) throws {
    self.folder = folder
    self.pace = pace
    self.adoptsDeliveries = adoptsDeliveries
    self.system = system
    copies = try copyInterval.map {
      try TemporaryFileCopies(folder: "\(folder)-copies", systemFolder: folder, interval: $0)
    }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    inbox = try DeliveryInbox(folder: "\(folder)-inbox")
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
  public var tasks: [TaskSnapshot] {
    state.withLock { state in
      (state.tasks.values.map(\.snapshot) + state.ends.values.map(\.snapshot))
        .sorted { $0.id.rawValue < $1.id.rawValue }
    }
  }

  /// The URL that a task asks; `nil` when there is no such task.
  public func url(of task: TaskID) -> String? { self[task]?.request.url }

  /// The names of the delivered files that are kept.
  package var keptDeliveries: [String] { inbox.fileNames }

  /// Has the application die: no sink hears of its tasks any more, which go on and can be adopted.
  ///
  /// What the application was told and has not dealt with is lost to it.
  public func crash() {
    state.withLock { state in
      for task in state.tasks.values { task.letGo() }
      state.ends = [:]
      state.told = [:]
      state.unwanted = []
      state.isConnected = false
    }
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
    connect()
    let (id, number) = state.withLock { state in
      state.lastID += 1
      state.requests.append(request)
      return (TaskID(rawValue: state.lastID), state.lastID)
    }
    do throws(TaskFailure) {
      var request = request
      if let resumeData = request.resumeData {
        request.resumeData = try prepared(resumeData, of: request.recordID)
      } else {
        copies?.forget(request.recordID)
      }
      drive(try begin(request, id, number: number, sink: sink))
    } catch {
      sink.finish(.failed(error))
    }
    return id
  }

  /// The resume data as the system needs it, with its file in place.
  private func prepared(_ resumeData: Data, of recordID: String) throws(TaskFailure) -> Data {
    let prepared = try ResumeDataPreparation.prepared(resumeData, for: system)
    copies?.restore(prepared, of: recordID)
    copies?.note(prepared, of: recordID)
    return prepared
  }

  private func begin(
    _ request: TaskRequest,
    _ id: TaskID,
    number: UInt64,
    sink: (any TaskSink)?
  ) throws(TaskFailure) -> HeldTask {
    let task = HeldTask(
      id: id,
      request: request,
      file: try HeldFile(for: request, number: number, in: folder, of: system),
      sink: sink,
      system: system,
      leavesResumeData: { [weak self] in self?.leavesResumeData ?? false },
      asksForResumeData: { [weak self] head, held, total in
        self?.copy(request, head, held: held, of: total) ?? false
      },
      onEnd: { [weak self] task in self?.hasEnded(task) }
    )
    state.withLock { $0.tasks[id] = task }
    task.work = network.start(task.file.networkRequest(for: request), sink: task)
    return task
  }

  /// Asks a task to end; it leaves resume data if it can.
  ///
  /// By hand, it ends when it is advanced.
  public func cancel(_ task: TaskID) {
    let (end, live) = state.withLock { state in
      (state.ends.removeValue(forKey: task), state.tasks[task])
    }
    if let delivery = end?.delivery { inbox.remove(delivery) }
    guard let live else { return }
    // The application asks for an end that no sink of it hears.
    if !live.hasSink {
      state.withLock { if $0.isConnected { $0.unwanted.insert(task) } }
    }
    live.isCanceling = true
    if let work = live.work { network.cancel(work) }
    drive(live)
  }

  /// What ``tasks`` has, after the ends that came while there was no application.
  public func liveTasks() async -> [TaskSnapshot] {
    connect()
    return tasks
  }

  /// Has a sink hear of a task that was left.
  public func adopt(_ task: TaskID, sink: any TaskSink) {
    let (end, live) = state.withLock { state in
      state.tasks[task]?.setSink(sink)
      return (state.ends.removeValue(forKey: task), state.tasks[task])
    }
    if let end {
      sink.report(held: end.snapshot.bytesReceived, of: nil)
      tell(end, sink)
    } else if let live {
      sink.report(held: live.snapshot.bytesReceived, of: nil)
    } else {
      sink.finish(.cancelled)
    }
  }

  /// Deletes the body of a task whose end is committed.
  public func acknowledge(_ task: TaskID) {
    guard let delivery = state.withLock({ $0.told.removeValue(forKey: task) }) else { return }
    copies?.forget(delivery.description.recordID)
    inbox.remove(delivery)
  }

  /// The records of whose temporary files there are copies.
  public var keptRecordIDs: [String] { copies?.recordIDs ?? [] }

  /// Deletes the copy of a record's temporary file.
  public func discardBytes(ofRecord recordID: String) {
    copies?.forget(recordID)
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

  // MARK: The session's ends

  /// Makes the session in a new process: it hears of the ends that came while there was none.
  private func connect() {
    state.withLock { state in
      guard !state.isConnected else { return }
      state.isConnected = true
      if adoptsDeliveries {
        for delivery in inbox.leftovers() {
          state.lastLeftover -= 1
          let id = TaskID(rawValue: state.lastLeftover)
          state.ends[id] = End(
            snapshot: TaskSnapshot(delivery, id: id),
            outcome: .completed,
            delivery: delivery
          )
        }
      }
      for task in state.tasks.values { _ = takeEnd(of: task, &state) }
    }
  }

  /// A task has ended: the process hears of it, if there is one.
  private func hasEnded(_ task: HeldTask) {
    if task.isAsked { return goOn(task) }
    let told = state.withLock { state in
      state.isConnected ? takeEnd(of: task, &state) : nil
    }
    if let (end, sink) = told { tell(end, sink) }
  }

  /// Copies the file of a task, and says whether the task has to leave resume data first, so that the
  /// file's name is known.
  private func copy(
    _ request: TaskRequest,
    _ head: ResponseHead,
    held byteCount: Int64,
    of total: Int64?
  ) -> Bool {
    // It is the process that copies.
    guard let copies, state.withLock({ $0.isConnected }), request.offset == 0 else { return false }
    copies.progressed(request.recordID, held: byteCount, of: head)
    return copies.mustAsk(request.recordID, held: byteCount, of: total)
  }

  /// Goes on with a task that has ended to leave resume data, which names its temporary file.
  private func goOn(_ task: HeldTask) {
    guard let end = task.takeEnd() else { return }
    var request = task.request
    do throws(TaskFailure) {
      request.resumeData = try end.resumeData.map { data throws(TaskFailure) in
        try prepared(data, of: request.recordID)
      }
      // Without, the server has nothing to go on with: all of it comes again.
      drive(try begin(request, task.id, number: task.id.rawValue, sink: end.sink))
    } catch {
      state.withLock { $0.tasks[task.id] = nil }
      end.sink?.finish(.failed(error))
    }
  }

  /// Has the session forget a task that has ended.
  ///
  /// - Returns: The end and the sink that hears of it; `nil` when there is none, and the end is kept.
  private func takeEnd(
    of task: HeldTask,
    _ state: inout State
  ) -> (End, any TaskSink)? {
    guard state.tasks[task.id] != nil, let (sink, outcome, head, resumeData) = task.takeEnd() else {
      return nil
    }
    var end = End(snapshot: task.snapshot, outcome: outcome, resumeData: resumeData)
    if outcome == .completed, let head {
      do {
        end.delivery = try inbox.accept(
          task.file.path,
          DeliveryInbox.Description(
            task: task.id.rawValue,
            recordID: task.request.recordID,
            offset: task.request.offset,
            head: head
          )
        )
        end.snapshot.isDelivered = true
      } catch {
        let message = "the delivered file cannot be kept: \(error)"
        end.outcome = .failed(TaskFailure(code: .unknown, message: message))
      }
    } else if resumeData == nil, task.request.offset == 0 {
      end.resumeData = copies?.resumeData(of: task.request.recordID)
    }
    state.tasks[task.id] = nil
    if let sink { return (end, sink) }
    if state.unwanted.remove(task.id) != nil {
      if let delivery = end.delivery { inbox.remove(delivery) }
    } else {
      state.ends[task.id] = end
    }
    return nil
  }

  /// Tells a sink of an end: the body, or what it may go on from; then the outcome.
  private func tell(_ end: End, _ sink: any TaskSink) {
    if let resumeData = end.resumeData { sink.receive(resumeData: resumeData) }
    var outcome = end.outcome
    if let delivery = end.delivery {
      state.withLock { $0.told[end.snapshot.id] = delivery }
      outcome = delivery.send(to: sink)
    }
    sink.finish(outcome)
  }

  // MARK: -

  private subscript(_ id: TaskID) -> HeldTask? { state.withLock { $0.tasks[id] } }

  private var all: [HeldTask] {
    state.withLock { $0.tasks.values.sorted { $0.id.rawValue < $1.id.rawValue } }
  }

  private func drive(_ task: HeldTask) {
    guard pace == .atOnce else { return }
    DispatchQueue.global().async { while self.advance(task.id) {} }
  }
}
