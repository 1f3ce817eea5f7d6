internal import DownloadStore
public import DownloadSync
internal import Foundation
package import ResumeData
internal import SystemInterface

/// A simulated background session of Apple's URLSession, for tests on any platform.
///
/// The bytes of a task are in a file of the session's folder, named like
/// `CFNetworkDownload_0000A1.tmp`, until the task has ended. Tasks outlive the application
/// (``crash()``), may be suspended by the system or stall, leave resume data in the format of iOS
/// 12 and later, and resume from data of any format that names a file of the folder.
///
/// The session reports each end once, to the process that is running. A process that dies before it
/// has handled an end loses it, unless the transport has kept it.
///
/// ```swift
/// let transport = try SimulatedBackgroundTransport(folder: path)
/// transport.network.serve(SimulatedResource(body, entityTag: "\"1\""), at: url)
/// let engine = try DownloadEngine(store: store, transport: transport)
/// ```
///
/// A test controls the tasks:
///
/// ```swift
/// let task = transport.start(request, sink: sink)
/// transport.fallSilent()                    // nothing arrives until `wake()`
/// transport.wake()
/// transport.suspend(task)                   // nothing arrives until `resume(_:)`
/// transport.resume(task)
/// transport.crash()                         // the sink is not called again
/// transport.adopt(task, sink: nextSink)     // the next process
/// ```
public final class SimulatedBackgroundTransport: BackgroundTransport {
  /// The network: its resources and failures.
  ///
  /// Its tasks belong to the session, not to the application.
  public let network = SimulatedTransport(pace: .byHand)
  private let folder: String
  private let pace: SimulatedTransport.Pace
  private let inbox: DeliveryInbox
  private let adoptsDeliveries: Bool
  private let copies: TemporaryFileCopies?
  private let system: URLSessionResumeData.Consumer
  // Held for table accesses and for moving a delivered file; never during a call to a sink.
  private let state = Mutex(State())

  /// Creates a session with its files in a folder.
  ///
  /// - Parameters:
  ///   - folder: The folder, created if missing. Delivered files are kept in `FOLDER-inbox` beside
  ///     it.
  ///   - pace: How tasks advance; with manual pace by ``advance(_:atMost:)``.
  /// - Throws: The error of `FileManager`.
  public convenience init(folder: String, pace: SimulatedTransport.Pace = .immediately) throws {
    try self.init(folder: folder, pace: pace, adoptsDeliveries: true, copyInterval: nil)
  }

  /// Creates a session of a particular system.
  ///
  /// - Parameters:
  ///   - folder: As in the public initialiser. Copies are kept beside it, in `FOLDER-copies`.
  ///   - pace: As in the public initialiser.
  ///   - adoptsDeliveries: Whether deliveries of an earlier process are found. `false` is a defect
  ///     that the simulation must detect.
  ///   - copyInterval: The number of bytes between two copies of a temporary file; `nil` for no
  ///     copies.
  ///   - system: The system whose resume data the session produces and accepts.
  /// - Throws: The error of `FileManager`.
  package init(
    folder: String,
    pace: SimulatedTransport.Pace,
    adoptsDeliveries: Bool = true,
    copyInterval: Int64?,
    system: URLSessionResumeData.Consumer = .identity
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

  // MARK: Control

  /// Whether tasks that fail leave resume data; otherwise their files are deleted.
  public var leavesResumeData: Bool {
    get { state.withLock { $0.leavesResumeData } }
    set { state.withLock { $0.leavesResumeData = newValue } }
  }

  /// All requests so far, in the order of their start.
  public var requests: [TaskRequest] { state.withLock { $0.requests } }

  /// The tasks of the session, including ended ones that were not reported yet, in the order of
  /// their start.
  public var tasks: [TaskSnapshot] {
    state.withLock { state in
      (state.tasks.values.map(\.snapshot) + state.ends.values.map(\.snapshot))
        .sorted { $0.id.rawValue < $1.id.rawValue }
    }
  }

  /// The URL of a task; `nil` if there is no such task.
  public func url(of task: TaskID) -> String? { self[task]?.request.url }

  /// The names of the delivered files.
  package var keptDeliveries: [String] { inbox.fileNames }

  /// Simulates the death of the application: its sinks are not called again, and its tasks continue
  /// and can be adopted.
  ///
  /// Ends that were reported and not handled are lost.
  public func crash() {
    state.withLock { state in
      for task in state.tasks.values { task.discard() }
      state.ends = [:]
      state.told = [:]
      state.unwanted = []
      state.isConnected = false
    }
  }

  /// Advances a task by one event, unless it is suspended or stalled.
  ///
  /// - Returns: Whether the task continues.
  @discardableResult
  public func advance(_ id: TaskID, atMost byteCount: Int64 = 65_536) -> Bool {
    guard let task = self[id], task.moves, let work = task.work else { return false }
    return network.advance(work, atMost: byteCount)
  }

  /// Suspends a task, as the system may do.
  public func suspend(_ task: TaskID) {
    self[task]?.isSuspended = true
  }

  /// Stalls tasks: they appear to run, but nothing arrives until ``wake()``.
  public func fallSilent() {
    for task in all { task.isSilent = true }
  }

  // MARK: BackgroundTransport

  /// Starts a task, from resume data if the request contains any.
  public func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    connect()
    let (id, number) = state.withLock { state in
      state.lastID += 1
      state.requests.append(request)
      return (TaskID(rawValue: state.lastID), state.lastID)
    }
    do throws(DownloadFailure) {
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

  /// Prepares resume data for the system and restores its file.
  private func prepared(_ resumeData: Data, of recordID: String) throws(DownloadFailure) -> Data {
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
  ) throws(DownloadFailure) -> SessionTask {
    let task = SessionTask(
      id: id,
      request: request,
      file: try SessionFile(for: request, number: number, in: folder, of: system),
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

  /// Cancels a task, which leaves resume data if possible.
  ///
  /// With manual pace it ends when it is advanced.
  public func cancel(_ task: TaskID) {
    let (end, live) = state.withLock { state in
      (state.ends.removeValue(forKey: task), state.tasks[task])
    }
    if let delivery = end?.delivery { inbox.remove(delivery) }
    guard let live else { return }
    // A cancel of a task that has no sink in this application.
    if !live.hasSink {
      state.withLock { if $0.isConnected { $0.unwanted.insert(task) } }
    }
    live.isCanceling = true
    if let work = live.work { network.cancel(work) }
    drive(live)
  }

  /// The tasks, after reporting the ends that occurred without an application.
  public func liveTasks() async -> [TaskSnapshot] {
    connect()
    return tasks
  }

  /// Connects a sink to a task of an earlier process.
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

  /// Deletes the body of a task whose end has been committed.
  public func acknowledge(_ task: TaskID) {
    guard let delivery = state.withLock({ $0.told.removeValue(forKey: task) }) else { return }
    copies?.forget(delivery.description.recordID)
    inbox.remove(delivery)
  }

  /// The ids of the records with a copy of a temporary file.
  public var keptRecordIDs: [String] { copies?.recordIDs ?? [] }

  /// Deletes the copy of a record's temporary file.
  public func discardBytes(ofRecord recordID: String) {
    copies?.forget(recordID)
  }

  /// Resumes a suspended task.
  public func resume(_ task: TaskID) {
    guard let task = self[task] else { return }
    task.isSuspended = false
    drive(task)
  }

  /// Resumes stalled tasks.
  public func wake() {
    for task in all {
      task.isSilent = false
      drive(task)
    }
  }

  // MARK: Ends

  /// Creates the session in a new process and reports the ends that occurred without one.
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

  /// Reports the end of a task to the process, if there is one.
  private func hasEnded(_ task: SessionTask) {
    if task.isAsked { return continueTask(task) }
    let told = state.withLock { state in
      state.isConnected ? takeEnd(of: task, &state) : nil
    }
    if let (end, sink) = told { tell(end, sink) }
  }

  /// Copies the file of a task; returns whether the task must first leave resume data, which names
  /// the file.
  private func copy(
    _ request: TaskRequest,
    _ head: ResponseHead,
    held byteCount: Int64,
    of total: Int64?
  ) -> Bool {
    // The process makes the copy.
    guard let copies, state.withLock({ $0.isConnected }), request.offset == 0 else { return false }
    copies.progressed(request.recordID, held: byteCount, of: head)
    return copies.mustAsk(request.recordID, held: byteCount, of: total)
  }

  /// Continues a task that ended only to leave resume data.
  private func continueTask(_ task: SessionTask) {
    guard let end = task.takeEnd() else { return }
    var request = task.request
    do throws(DownloadFailure) {
      request.resumeData = try end.resumeData.map { data throws(DownloadFailure) in
        try prepared(data, of: request.recordID)
      }
      // Without resume data the task restarts from the first byte.
      drive(try begin(request, task.id, number: task.id.rawValue, sink: end.sink))
    } catch {
      state.withLock { $0.tasks[task.id] = nil }
      end.sink?.finish(.failed(error))
    }
  }

  /// Removes an ended task from the session.
  ///
  /// - Returns: The end and its sink; `nil` if there is no sink, and the end is kept.
  private func takeEnd(
    of task: SessionTask,
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
        let message = "the delivered file cannot be stored: \(error)"
        end.outcome = .failed(DownloadFailure(.unknown, message))
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

  /// Passes an end to a sink: the body or the resume data, then the outcome.
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

  private subscript(_ id: TaskID) -> SessionTask? { state.withLock { $0.tasks[id] } }

  private var all: [SessionTask] {
    state.withLock { $0.tasks.values.sorted { $0.id.rawValue < $1.id.rawValue } }
  }

  private func drive(_ task: SessionTask) {
    guard pace == .immediately else { return }
    DispatchQueue.global().async { while self.advance(task.id) {} }
  }
}
