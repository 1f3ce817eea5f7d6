// There are no background sessions on Linux; `SimulatedBackgroundTransport` is one without a system.
#if canImport(Darwin)
  public import DownloadSync
  public import Foundation
  internal import ResumeData

  /// The transport over a background session of Apple's: its download tasks go on while the
  /// application sleeps, and after it was ended by the system.
  ///
  /// **Untested**: this package is built and tested on Linux, where no such session exists. What the
  /// engine does with it is tested over `SimulatedBackgroundTransport`, and so are the parts that both
  /// share: what was delivered and not committed, the repair of resume data, and copies of temporary
  /// files.
  ///
  /// Redirects are followed by the system, by its rules: a header field that identifies the user may
  /// reach another origin. Give such downloads a signed URL instead.
  ///
  /// Each task runs in the background, whatever `TaskRequest.prefersBackground` says; `RoutingTransport`
  /// sends it only those that ask for it.
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
    private let copies: TemporaryFileCopies?
    private let session: URLSession
    private let launchPatience: Duration
    private let prepare: @Sendable (Data, _ recordID: String) throws -> Data

    /// Takes up the session of that name, or makes it.
    ///
    /// - Parameters:
    ///   - identifier: The name of the session; one process at a time may have it.
    ///   - folder: Where files lie that were delivered before anybody took them; not a folder that
    ///     the system clears.
    ///   - temporaryFolder: Where the system keeps the temporary files of tasks, if the application can
    ///     read it. Each is copied once a mebibyte then, into `folder`, so that a lost network that
    ///     leaves no resume data costs no more. To learn the file's name, a new task is asked once for
    ///     resume data when its first bytes arrive, and goes on from it.
    ///   - launchPatience: How long ``liveTasks()`` waits the first time, so that the ends of tasks
    ///     that came while the application did not run are among them.
    ///   - change: Changes the configuration before the session is made of it.
    /// - Throws: What `FileManager` throws when the folder cannot be made.
    public init(
      identifier: String,
      folder: String,
      temporaryFolder: String? = nil,
      launchPatience: Duration = .seconds(1),
      _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) throws {
      let inbox = try DeliveryInbox(folder: "\(folder)/delivered")
      let copies = try temporaryFolder.map {
        try TemporaryFileCopies(folder: "\(folder)/copies", systemFolder: $0)
      }
      self.copies = copies
      events = BackgroundEvents(identifier: identifier)
      table = DownloadTaskTable(inbox: inbox, copies: copies)
      let consumer = Self.consumer(temporaryFolder: temporaryFolder)
      prepare = { data, recordID in
        let prepared = try ResumeDataPreparation.prepared(data, for: consumer)
        copies?.restore(prepared, of: recordID)
        copies?.note(prepared, of: recordID)
        return prepared
      }
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
        delegate: DownloadDelegate(table: table, events: events, prepare: prepare),
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
        do {
          let prepared = try prepare(resumeData, request.recordID)
          task = session.downloadTask(withResumeData: prepared)
        } catch {
          let failure = error as? TaskFailure
          sink.finish(.failed(failure ?? TaskFailure(code: .unknown, message: "\(error)")))
          return table.unusedID()
        }
      } else {
        copies?.forget(request.recordID)
        let prepared: PreparedRequest
        do throws(TaskFailure) {
          prepared = try PreparedRequest(request)
        } catch {
          sink.finish(.failed(error))
          return table.unusedID()
        }
        task = session.downloadTask(with: prepared.urlRequest)
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

    /// Deletes the delivered file of a task whose end is committed.
    public func acknowledge(_ task: TaskID) {
      table.acknowledge(task)
    }

    /// The records of whose temporary files there are copies.
    public var keptRecordIDs: [String] { copies?.recordIDs ?? [] }

    /// Deletes the copy of a record's temporary file.
    public func discardBytes(ofRecord recordID: String) {
      copies?.forget(recordID)
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

    /// What resume data this system takes.
    private static func consumer(temporaryFolder: String?) -> ResumeData.Consumer {
      #if os(iOS) || os(tvOS)
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return ResumeData.Consumer(
          iOS: version.majorVersion,
          version.minorVersion,
          directory: temporaryFolder ?? NSTemporaryDirectory()
        )
      #else
        return .identity
      #endif
    }

    private func find(
      _ id: TaskID,
      _ body: @escaping @Sendable (URLSessionDownloadTask?) -> Void
    ) {
      let id = table.sessionID(of: id)
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
