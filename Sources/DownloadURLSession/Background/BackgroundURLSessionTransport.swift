// Linux has no background sessions; `SimulatedBackgroundTransport` simulates one.
#if canImport(Darwin)
  internal import DownloadStore
  public import DownloadSync
  public import Foundation
  internal import ResumeData

  /// A transport over a background session of Apple's URLSession: its download tasks continue while
  /// the application is suspended, and after the system has terminated it.
  ///
  /// **Untested**: this package is built and tested on Linux, where no such session exists. The
  /// engine's use of it is tested with `SimulatedBackgroundTransport`. So are the parts that both
  /// share: delivered files that are not committed yet, the repair of resume data, and the copies
  /// of temporary files.
  ///
  /// The system follows redirects by its own rules: a header field that identifies the user may
  /// reach another origin. Use a signed URL for such downloads.
  ///
  /// Every task runs in the background, whatever `TaskRequest.prefersBackground` says.
  /// `RoutingTransport` starts only those tasks here that ask for it or have resume data.
  ///
  /// Create one transport per identifier, in every launch, before the engine: the system then
  /// delivers what has ended in the meantime. The application passes the system's completion
  /// handler to ``events``:
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
    /// Holds the completion handler to call when all events of the session have been delivered.
    public let events: BackgroundEvents
    private let table: DownloadTaskTable
    private let copies: TemporaryFileCopies?
    private let session: URLSession
    private let launchPatience: Duration
    private let prepare: @Sendable (Data, _ recordID: String) throws -> Data

    /// Connects to the session with an identifier, or creates it.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the session. Only one process may use it at a time.
    ///   - folder: The folder for delivered files until the engine has committed them, created if
    ///     missing. The system must not clear it.
    ///   - temporaryFolder: The folder in which the system stores the temporary files of tasks, if
    ///     the application can read it. Each file is then copied into `folder` once per MiB, which
    ///     limits the loss when the network is lost and the system leaves no resume data. To learn
    ///     the file's name, the transport interrupts a new task once when its first bytes arrive,
    ///     and continues it from the resume data.
    ///   - launchPatience: The time that the first call of ``liveTasks()`` waits, so that it
    ///     includes tasks that ended while the application was not running.
    ///   - change: Changes the configuration before the session is created.
    /// - Throws: The error of `FileManager` if a folder cannot be created.
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
      // Serial: a sink receives one call at a time.
      queue.maxConcurrentOperationCount = 1
      session = URLSession(
        configuration: configuration,
        delegate: DownloadDelegate(table: table, events: events, prepare: prepare),
        delegateQueue: queue
      )
    }

    /// Invalidates the session after its tasks have ended.
    deinit {
      session.finishTasksAndInvalidate()
    }

    /// Starts a task, from resume data if the request contains any.
    ///
    /// Unusable resume data, a URL that is not an `http` or `https` URL with a host, and an invalid
    /// header field end the task immediately, during this call.
    public func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
      let task: URLSessionDownloadTask
      if let resumeData = request.resumeData {
        do {
          let prepared = try prepare(resumeData, request.recordID)
          task = session.downloadTask(withResumeData: prepared)
        } catch {
          let failure = error as? DownloadFailure
          sink.finish(.failed(failure ?? DownloadFailure(.unknown, "\(error)")))
          return table.unusedID()
        }
      } else {
        copies?.forget(request.recordID)
        let urlRequest: URLRequest
        do throws(DownloadFailure) {
          urlRequest = try PreparedRequest(request).urlRequest
        } catch {
          sink.finish(.failed(error))
          return table.unusedID()
        }
        task = session.downloadTask(with: urlRequest)
      }
      task.taskDescription = request.recordID
      table.add(task, sink: sink)
      task.resume()
      return task.id
    }

    /// Cancels a task, which leaves resume data if possible.
    public func cancel(_ task: TaskID) {
      table.noteCancel(task)
      // The task's error contains the data too, and is where it is read.
      find(task) { $0?.cancel(byProducingResumeData: { _ in }) }
    }

    /// The tasks of the session, and the ended tasks whose outcome no sink has received.
    ///
    /// The first call waits for `launchPatience`.
    public func liveTasks() async -> [TaskSnapshot] {
      if table.isFirstRead { try? await Task.sleep(for: launchPatience) }
      let tasks = await session.allTasks.compactMap { $0 as? URLSessionDownloadTask }
      return table.snapshots(of: tasks)
    }

    /// Connects a sink to a task of an earlier process.
    public func adopt(_ task: TaskID, sink: any TaskSink) {
      if table.adopt(task, sink: sink) { return }
      // No end is known. If the session no longer has the task, it has ended.
      find(task) { [table] found in
        if let found { table.add(found, sink: sink) } else { sink.finish(.cancelled) }
      }
    }

    /// Deletes the delivered file and the copy of a task whose end has been committed to the store.
    public func acknowledge(_ task: TaskID) {
      table.acknowledge(task)
    }

    /// The ids of the records with a copy of a temporary file.
    public var keptRecordIDs: [String] { copies?.recordIDs ?? [] }

    /// Deletes the copy of a record's temporary file.
    public func discardBytes(ofRecord recordID: String) {
      copies?.forget(recordID)
    }

    /// Resumes a suspended task.
    public func resume(_ task: TaskID) {
      find(task) { $0?.resume() }
    }

    /// Suspends and resumes all running tasks: iOS 12.0 and 12.1 need this to continue stalled
    /// tasks.
    public func wake() {
      session.getAllTasks { tasks in
        for task in tasks where task.state == .running {
          task.suspend()
          task.resume()
        }
      }
    }

    /// The system whose resume data is needed.
    private static func consumer(temporaryFolder: String?) -> URLSessionResumeData.Consumer {
      #if os(iOS) || os(tvOS)
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return URLSessionResumeData.Consumer(
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
    /// The task identifier, which is unique within a session, across launches too.
    var id: TaskID { TaskID(rawValue: UInt64(taskIdentifier)) }
  }
#endif
