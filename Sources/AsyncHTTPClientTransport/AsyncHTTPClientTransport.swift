#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import Dispatch
  public import DownloadSync
  internal import Foundation
  internal import NIOCore
  internal import NIOPosix
  internal import NIOSSL

  /// The transport over AsyncHTTPClient, for Linux: it survives what `URLSession` there does not.
  ///
  /// Only built with the package trait `AsyncHTTPClient`. To the engine it is the same as
  /// `URLSessionTransport`: the same requests, redirects, limits and failures. What differs:
  ///
  /// - No response ends the process or hangs it. A header that is cut short, trailer fields and a
  ///   header field without a blank after its colon are nothing special.
  /// - A connection is not read while its sink is busy, so a slow sink holds up nobody else, and a low
  ///   ``bytesPerSecond`` makes no task time out.
  /// - What has arrived and is not with the sink yet is lost when a connection breaks; it is fetched
  ///   again.
  /// - `TaskRequest.allowsCellular` has no effect.
  /// - Proxies that the environment names (`http_proxy` and so on) are not used.
  ///
  /// Sinks are called on a queue of the transport, each sink by one thread at a time. They may block,
  /// and may call every method of the transport.
  public final class AsyncHTTPClientTransport: Transport {
    private let client: HTTPClient
    private let fetches = LiveTaskTable<Fetch>()
    private let limiter: RateLimiter
    private let idleTimeout: Duration
    private let executor = SinkExecutor()

    /// Creates a transport with connections of its own.
    ///
    /// TLS trusts the certificates of the system, or, if the environment variable `SSL_CERT_FILE`
    /// names a file of PEM certificates, those.
    ///
    /// - Parameters:
    ///   - idleTimeout: How long a task may hear nothing from its server before it fails with
    ///     `timedOut`. It also covers looking up the host, connecting, and waiting for one of the
    ///     connections; time that the sink takes does not count.
    ///   - connectionsPerHost: The number of HTTP/1 connections to one host. A task beyond it waits,
    ///     and its idle time runs; keep it at or above the engine's own limit.
    ///   - bytesPerSecond: The limit in ``bytesPerSecond``.
    public init(
      idleTimeout: Duration = .seconds(60),
      connectionsPerHost: Int = 16,
      bytesPerSecond: Int64? = nil
    ) {
      precondition(connectionsPerHost > 0, "a transport needs at least one connection per host")
      self.idleTimeout = idleTimeout
      limiter = RateLimiter(bytesPerSecond: bytesPerSecond)
      var tls = TLSConfiguration.makeClientConfiguration()
      if let file = ProcessInfo.processInfo.environment["SSL_CERT_FILE"], !file.isEmpty {
        tls.trustRoots = .file(file)
      }
      // The transport follows redirects itself, and keeps time itself: the client's own idle timer
      // also runs while a sink is busy.
      var configuration = HTTPClient.Configuration(
        tlsConfiguration: tls,
        redirectConfiguration: .disallow,
        timeout: HTTPClient.Configuration.Timeout(connect: TimeAmount(idleTimeout))
      )
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
      // The engine decides about another try, not the pool.
      configuration.connectionPool.retryConnectionEstablishment = false
      configuration.http1_1ConnectionDebugInitializer = StatusCheck.add(toConnection:)
      configuration.http2StreamChannelDebugInitializer = StatusCheck.add(toStream:)
      client = HTTPClient(
        eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
        configuration: configuration
      )
    }

    /// Cancels what is still running; every sink hears its end.
    deinit {
      for fetch in fetches.all { fetch.end(.cancelled) }
      // The closure keeps the client until its connections are closed.
      client.shutdown { [client] _ in withExtendedLifetime(client) {} }
    }

    /// The limit on the sum of all tasks' body bytes, in bytes per second; none if `nil`.
    ///
    /// It is one limit for the whole transport. What has arrived is waited off before more is read, so
    /// the kernel's buffers fill, and the servers slow down. Must be above zero; takes effect at once.
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
      let fetch = fetches.add(recordID: request.recordID, sink: sink) { Fetch(gate: $0) }
      do throws(TaskFailure) {
        let hop = try Hop(request)
        fetch.begin(
          on: executor,
          idleTimeout: idleTimeout
        ) { [client, limiter] in
          await fetch.run(hop, client: client, limiter: limiter)
        }
      } catch {
        fetch.end(.failed(error))
      }
      return fetch.gate.id
    }

    /// Asks a task to end.
    ///
    /// Once this returns, no call to the sink begins but the one to `finish`, which comes without
    /// waiting for the network. Does nothing for a task that has ended.
    public func cancel(_ task: TaskID) {
      fetches[task]?.end(.cancelled)
    }

    /// The tasks that have not told their sink the outcome yet, in the order of their start.
    public func liveTasks() async -> [TaskSnapshot] {
      fetches.all.map(\.gate.snapshot)
    }
  }
#endif
