internal import Dispatch
internal import DownloadStore
public import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A transport over `URLSession` data tasks, for Linux and for Apple platforms in the foreground.
///
/// It uses only the part of `URLSession` that works on Linux: one session without cache, cookies
/// and credentials, data tasks with a delegate, its own task table, and no suspended tasks. These
/// faults of the platform remain on Linux up to Swift 6.3. The process crashes if a server closes
/// the connection within a response header, sends a chunked body with trailer fields
/// (swift-corelibs-foundation issue 5285 for both), sends a `Content-Length` that a `Double` rounds
/// to 2^63, such as 9223372036854775807, sends a header line that begins with NUL, or redirects to a
/// location without a scheme whose host is not valid, such as `//a%20b/`. A server that sends trailer
/// fields or a chunk extension without end occupies the thread of all sessions forever. So the engine
/// commits each attempt before it starts it.
///
/// Sinks are called on the transport's queues, each sink by one thread at a time. The data of all
/// tasks passes through one serial queue. A sink that blocks slows all tasks down, which bounds
/// memory. A sink may call any method of the transport.
///
/// On Linux, proxies are those of the environment (`http_proxy`, `https_proxy`, `all_proxy`,
/// `no_proxy`), which libcurl reads. On Apple platforms they are those of the system.
///
/// On Linux the oldest version of TLS is that of the system's OpenSSL, which URLSession cannot change:
/// 1.2 with the configuration of Debian 12. A URL with an IPv6 literal fails with `unsupportedURL`.
///
/// Each redirect is a new session task, so that credentials, relative locations and the redirect
/// limit are handled here, the same on every platform.
///
/// ```swift
/// let transport = URLSessionTransport(bytesPerSecond: 2_000_000, onHang: { exit(1) })
/// let engine = try DownloadEngine(store: store, transport: transport)
/// // Later, to remove the limit:
/// transport.bytesPerSecond = nil
/// ```
public final class URLSessionTransport: Transport {
  private let table = TaskTable()
  private let limiter: RateLimiter
  private let sessionTasks: SessionTaskQueue
  private let session: URLSession
  private let watchdog: Watchdog

  /// Creates a transport with its own session.
  ///
  /// - Parameters:
  ///   - idleTimeout: The time without data from the server after which a task fails with
  ///     `timedOut`; rounded up to whole seconds, at least one. It also covers the DNS lookup,
  ///     connecting, and waiting for a free connection.
  ///   - connectionsPerHost: The number of connections per host. Further tasks wait, and their idle
  ///     time runs, so keep this at or above the engine's limit.
  ///   - bytesPerSecond: The limit in ``bytesPerSecond``.
  ///   - onHang: Called once, on a queue of the transport, when no session of this process has
  ///     answered for ten seconds although no sink is blocking. No transfer over URLSession will
  ///     make progress in this process again; a process that can be restarted should exit. Without
  ///     this closure the tasks time out one after the other.
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

  /// Creates a transport with other time-outs, for tests of the watchdog.
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
    sessionTasks = SessionTaskQueue(table: table)
    #if os(Linux)
      // The ephemeral configuration would create a folder for a cache that is not used.
      let configuration = URLSessionConfiguration.default
    #else
      let configuration = URLSessionConfiguration.ephemeral
    #endif
    // With a cache, a cancel that races with a start crashes the process on Linux. Cookies and
    // credentials would make one download depend on another.
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.urlCredentialStorage = nil
    configuration.timeoutIntervalForRequest = Self.wholeSeconds(sessionTimeout)
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    let delegate = SessionDelegate(
      table: table,
      sessionTasks: sessionTasks,
      limiter: limiter,
      mayTunnel: Self.mayTunnel(ProcessInfo.processInfo.environment),
      proxies: Self.proxies(ProcessInfo.processInfo.environment)
    )
    let delegateQueue = DelegateQueue { [weak delegate] in delegate?.flush() }
    session = URLSession(
      configuration: configuration,
      delegate: delegate,
      delegateQueue: delegateQueue
    )
    watchdog = Watchdog(
      limit: .seconds(Self.wholeSeconds(idleTimeout)),
      hangLimit: hangLimit,
      table: table,
      sessionTasks: sessionTasks,
      queue: delegateQueue,
      onHang: onHang
    )
  }

  /// Cancels all running tasks.
  ///
  /// Every sink receives `finish`.
  deinit {
    for task in table.all { sessionTasks.end(task, .cancelled) }
    sessionTasks.close(session)
  }

  /// The rate limit for the bodies of all tasks together, in bytes per second; `nil` for none.
  ///
  /// The transport delays the queue that passes data to the sinks. That queue is bounded, so the
  /// session stops reading, the kernel's buffers fill, and the servers slow down. At most about 1
  /// MiB is read ahead.
  ///
  /// While the session does not read, its idle timers run. If the limit is so low that a task
  /// receives less than one chunk of 16 KiB per idle time-out, it fails with `timedOut`: stay well
  /// above 16 KiB x running tasks / idle time-out. Must be positive; takes effect immediately.
  ///
  /// Tasks share the limit evenly once their bodies arrive. On Linux a task that starts while the
  /// limit delays others begins late, by four to eight seconds at 3 MiB/s on a local connection:
  /// its connection is made on the delayed thread.
  public var bytesPerSecond: Int64? {
    get { limiter.bytesPerSecond }
    set { limiter.bytesPerSecond = newValue }
  }

  /// Applies the rate limit of the store, in addition to ``bytesPerSecond``.
  public func follow(rateLimit limit: Int64?) {
    limiter.sharedBytesPerSecond = limit
  }

  /// Starts a task and returns immediately.
  ///
  /// A URL that is not an absolute `http` or `https` URL with a host ends the task with
  /// `unsupportedURL`; an invalid header field, such as one with a line break, ends it with
  /// `unknown`. The sink receives both on another thread.
  public func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    let task = table.add(recordID: request.recordID, sink: sink)
    do throws(DownloadFailure) {
      sessionTasks.open(try PreparedRequest(request), for: task, in: session)
      watchdog.wake()
    } catch {
      sessionTasks.end(task, .failed(error))
    }
    return task.gate.id
  }

  /// Cancels a task.
  ///
  /// After this returns, the only further call to the sink is `finish`, which does not wait for the
  /// network. Does nothing for a task that has ended.
  public func cancel(_ task: TaskID) {
    guard let task = table[task] else { return }
    sessionTasks.end(task, .cancelled)
  }

  /// On Linux 50 MB/s, elsewhere `nil`.
  ///
  /// On Linux all bodies pass through one thread, and a cancelled task is received on until that
  /// thread has time for it. On a local connection a file over four connections took three times as
  /// long as over one, and the server sent two and a half times its bytes.
  public var splitRateLimit: Int64? {
    #if canImport(FoundationNetworking)
      50_000_000
    #else
      nil
    #endif
  }

  /// The tasks whose sinks have not received `finish` yet, in the order of their start.
  public func liveTasks() async -> [TaskSnapshot] {
    table.all.map(\.gate.snapshot)
  }

  /// Whether libcurl, under URLSession on Linux, may send `https` requests through a proxy.
  static func mayTunnel(_ environment: [String: String]) -> Bool {
    ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
      environment[$0]?.isEmpty == false
    }
  }

  /// The proxies of the environment, which libcurl reads on Linux.
  private static func proxies(_ environment: [String: String]) -> ProxySettings {
    #if os(Linux)
      (try? ProxySettings(environment: environment)) ?? ProxySettings()
    #else
      ProxySettings()
    #endif
  }

  /// On Linux the session's timers count whole seconds, and zero would fail every task immediately.
  static func wholeSeconds(_ duration: Duration) -> Double {
    max(1, min(1e6, (duration / .seconds(1)).rounded(.up)))
  }
}
