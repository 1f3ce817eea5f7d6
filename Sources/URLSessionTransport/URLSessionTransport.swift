internal import Dispatch
public import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The transport over `URLSession` data tasks, for Linux and for Apple systems in the foreground.
///
/// It stays inside the part of `URLSession` that is sound on Linux: one session for its whole life
/// without cache, cookies and credentials, data tasks with a delegate, a table of its own instead of
/// the session's, and nothing suspended. What is left of the platform's faults, on Linux up to Swift
/// 6.3: a server that closes the connection inside a response header, or that sends a chunked body
/// with trailer fields, ends the process (swift-corelibs-foundation issue 5285). One that floods the
/// trailer fields or the extension of a chunk keeps the thread of all sessions busy for ever. An
/// engine has to count attempts before it starts them.
///
/// Sinks are called on queues of the transport, each sink by one thread at a time; the data of all
/// tasks goes through one serial queue. A sink that blocks slows every task down, and that is how
/// memory stays bounded. A sink may call every method of the transport.
///
/// A task is fetched in one or more hops, one session task each: a redirect that is followed starts
/// a new one, so credentials, relative locations and the count of redirects are handled here and
/// not by rules that differ from platform to platform.
public final class URLSessionTransport: Transport {
  private let table = TaskTable()
  private let limiter: RateLimiter
  private let delegateQueue = DelegateQueue()
  private let hops: HopQueue
  private let session: URLSession
  private let watchdog: Watchdog

  /// Creates a transport with a session of its own.
  ///
  /// - Parameters:
  ///   - idleTimeout: How long a task may hear nothing from its server before it fails with
  ///     `timedOut`; rounded up to a whole number of seconds, at least one. It also covers looking
  ///     up the host, connecting, and waiting for one of the connections.
  ///   - connectionsPerHost: The number of connections to one host. A task beyond it waits, and its
  ///     idle time runs; keep it at or above the engine's own limit.
  ///   - bytesPerSecond: The limit in ``bytesPerSecond``.
  ///   - onHang: Called once, on a queue of the transport, when no session of this process has
  ///     answered for ten seconds though nothing on our side holds it up. No transfer over URLSession
  ///     will get anywhere in this process then; one that can be started again had better end.
  ///     Without it, tasks time out, one after the other.
  public convenience init(
    idleTimeout: Duration = .seconds(60),
    connectionsPerHost: Int = 16,
    bytesPerSecond: Int64? = nil,
    onHang: @escaping @Sendable () -> Void = {}
  ) {
    self.init(
      idleTimeout: idleTimeout,
      connectionsPerHost: connectionsPerHost,
      bytesPerSecond: bytesPerSecond,
      sessionTimeout: idleTimeout,
      hangLimit: .seconds(10),
      onHang: onHang
    )
  }

  /// As the public one; tests give the session a time-out of its own to see the watchdog at work, and
  /// less time to answer.
  init(
    idleTimeout: Duration,
    connectionsPerHost: Int,
    bytesPerSecond: Int64?,
    sessionTimeout: Duration,
    hangLimit: Duration,
    onHang: @escaping @Sendable () -> Void
  ) {
    precondition(connectionsPerHost > 0, "a transport needs at least one connection per host")
    limiter = RateLimiter(bytesPerSecond: bytesPerSecond)
    hops = HopQueue(table: table)
    let configuration = URLSessionConfiguration.ephemeral
    // With a cache, a cancel that races with a start ends the process on Linux. Cookies and
    // credentials would make one download depend on another.
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.urlCredentialStorage = nil
    configuration.timeoutIntervalForRequest = Self.wholeSeconds(sessionTimeout)
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    session = URLSession(
      configuration: configuration,
      delegate: SessionDelegate(table: table, hops: hops, limiter: limiter),
      delegateQueue: delegateQueue
    )
    watchdog = Watchdog(
      limit: .seconds(Self.wholeSeconds(idleTimeout)),
      hangLimit: hangLimit,
      table: table,
      hops: hops,
      queue: delegateQueue,
      onHang: onHang
    )
  }

  /// Cancels what is still running; every sink hears its end.
  deinit {
    for task in table.all { hops.end(task, .cancelled) }
    hops.close(session)
  }

  /// The limit on the sum of all tasks' body bytes, in bytes per second; none if `nil`.
  ///
  /// It is one limit for the whole transport. It works by delaying the queue that hands the data to
  /// the sinks. That queue is bounded and is the only back-pressure that there is: with the queue
  /// delayed, the session stops reading, the kernel's buffers fill, and the servers slow down. At
  /// most about 1 MiB is read ahead.
  ///
  /// While the session does not read, its idle timers run. A limit so low that a task's turn comes
  /// less than once in an idle time-out makes tasks fail with `timedOut`. A turn is one chunk of 16
  /// KiB, so stay well above 16 KiB x running tasks / idle time-out. Must be above zero; takes
  /// effect at once.
  ///
  /// Tasks share the limit evenly once their bodies come. On Linux a task that starts while another is
  /// held back begins late, by four to eight seconds at 3 MiB/s from the same machine: its connection
  /// is made on the thread that waits.
  public var bytesPerSecond: Int64? {
    get { limiter.bytesPerSecond }
    set { limiter.bytesPerSecond = newValue }
  }

  /// Starts one task and returns at once.
  ///
  /// A URL that is not an absolute `http` or `https` one with a host ends the task with
  /// `unsupportedURL`, and a header field with a line break or the like with `unknown`: both through
  /// the sink, on another thread.
  public func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    let task = table.add(recordID: request.recordID, sink: sink)
    do throws(TaskFailure) {
      hops.open(try Hop(request), for: task, in: session)
      watchdog.wake()
    } catch {
      hops.end(task, .failed(error))
    }
    return task.gate.id
  }

  /// Asks a task to end.
  ///
  /// Once this returns, no call to the sink begins but the one to `finish`, which comes without
  /// waiting for the network. Does nothing for a task that has ended.
  public func cancel(_ task: TaskID) {
    guard let task = table[task] else { return }
    hops.end(task, .cancelled)
  }

  /// The tasks that have not told their sink the outcome yet, in the order of their start.
  public func liveTasks() async -> [TaskSnapshot] {
    table.all.map(\.gate.snapshot)
  }

  /// The session's timers count whole seconds on Linux, and zero would fail every task at once.
  static func wholeSeconds(_ duration: Duration) -> Double {
    max(1, min(1e6, (duration / .seconds(1)).rounded(.up)))
  }
}
