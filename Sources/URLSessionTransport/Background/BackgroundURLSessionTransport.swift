// There are no background sessions on Linux; `SimulatedBackgroundTransport` is one without a system.
#if canImport(Darwin)
  public import DownloadSync
  public import Foundation

  /// The transport over a background session of Apple's: its download tasks go on while the
  /// application sleeps, and after it was ended by the system.
  ///
  /// **Untested**: this package is built and tested on Linux, where no such session exists. What the
  /// engine does with it is tested over `SimulatedBackgroundTransport`.
  ///
  /// Make one for an identifier, in every launch, before the engine is made; the system then hands
  /// over what has ended meanwhile. An application gives ``events`` the handler that it is given:
  ///
  /// ```swift
  /// func application(
  ///   _ application: UIApplication,
  ///   handleEventsForBackgroundURLSession identifier: String,
  ///   completionHandler: @escaping () -> Void
  /// ) {
  ///   transport.events.accept(identifier: identifier) { completionHandler() }
  /// }
  /// ```
  public final class BackgroundURLSessionTransport: BackgroundTransport {
    /// Keeps the handler that is called when all events of the session are told.
    public let events: BackgroundEvents
    private let table: DownloadTaskTable
    private let session: URLSession
    private let launchPatience: Duration

    /// Takes up the session of that name, or makes it.
    ///
    /// - Parameters:
    ///   - identifier: The name of the session; one process at a time may have it.
    ///   - folder: Where files lie that were delivered before anybody took them; not a folder that
    ///     the system clears.
    ///   - launchPatience: How long ``liveTasks()`` waits the first time, so that the ends of tasks
    ///     that came while the application did not run are among them.
    ///   - change: Changes the configuration before the session is made of it.
    /// - Throws: What `FileManager` throws when the folder cannot be made.
    public init(
      identifier: String,
      folder: String,
      launchPatience: Duration = .seconds(1),
      _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) throws {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      events = BackgroundEvents(identifier: identifier)
      table = DownloadTaskTable(folder: folder)
      self.launchPatience = launchPatience
      let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
      configuration.sessionSendsLaunchEvents = true
      configuration.urlCache = nil
      configuration.httpCookieStorage = nil
      configuration.urlCredentialStorage = nil
      change(configuration)
      let queue = OperationQueue()
      // One event after the other, as sinks want it.
      queue.maxConcurrentOperationCount = 1
      session = URLSession(
        configuration: configuration,
        delegate: DownloadDelegate(table: table, events: events),
        delegateQueue: queue
      )
    }

    /// Lets go of the session, whose tasks go on.
    deinit {
      session.finishTasksAndInvalidate()
    }

    /// Starts a task, from resume data if the request has some.
    public func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
      let task: URLSessionDownloadTask
      if let resumeData = request.resumeData {
        task = session.downloadTask(withResumeData: resumeData)
      } else {
        let hop: Hop
        do throws(TaskFailure) {
          hop = try Hop(request)
        } catch {
          sink.finish(.failed(error))
          return table.unusedID()
        }
        var urlRequest = hop.urlRequest
        urlRequest.allowsCellularAccess = request.allowsCellular
        task = session.downloadTask(with: urlRequest)
      }
      task.taskDescription = request.recordID
      table.add(task, sink: sink)
      task.resume()
      return task.id
    }

    /// Asks a task to end; it leaves resume data if it can.
    public func cancel(_ task: TaskID) {
      table.noteCancel(task)
      // The data comes with the end of the task too, where it is taken from.
      find(task) { $0?.cancel(byProducingResumeData: { _ in }) }
    }

    /// The tasks of the session, and those that have ended and nobody has heard how.
    public func liveTasks() async -> [TaskSnapshot] {
      if table.isFirstLook { try? await Task.sleep(for: launchPatience) }
      let tasks = await session.allTasks.compactMap { $0 as? URLSessionDownloadTask }
      return table.snapshots(of: tasks)
    }

    /// Has a sink hear of a task that was left.
    public func adopt(_ task: TaskID, sink: any TaskSink) {
      if table.adopt(task, sink: sink) { return }
      // It has not ended as far as is known; one that is not the session's any more has.
      find(task) { [table] found in
        if let found { table.add(found, sink: sink) } else { sink.finish(.cancelled) }
      }
    }

    /// Has a suspended task go on.
    public func resume(_ task: TaskID) {
      find(task) { $0?.resume() }
    }

    /// Suspends and resumes the tasks that run, which is what iOS 12.0 and 12.1 needed.
    public func wake() {
      session.getAllTasks { tasks in
        for task in tasks where task.state == .running {
          task.suspend()
          task.resume()
        }
      }
    }

    private func find(
      _ id: TaskID,
      _ body: @escaping @Sendable (URLSessionDownloadTask?) -> Void
    ) {
      session.getAllTasks { tasks in
        body(tasks.lazy.compactMap { $0 as? URLSessionDownloadTask }.first { $0.id == id })
      }
    }
  }

  extension URLSessionTask {
    /// Unique within a session, over launches too.
    var id: TaskID { TaskID(rawValue: UInt64(taskIdentifier)) }
  }
#endif
