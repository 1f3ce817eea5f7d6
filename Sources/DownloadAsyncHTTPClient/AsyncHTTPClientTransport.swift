#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import Dispatch
  internal import DownloadStore
  public import DownloadSync
  internal import NIOCore
  internal import NIOPosix
  internal import NIOSSL
  internal import SystemInterface

  /// A transport over AsyncHTTPClient, for Linux: survives responses that crash `URLSession` there.
  ///
  /// Built only with the package trait `AsyncHTTPClient`. The engine sees no difference from
  /// `URLSessionTransport`: requests, redirects, limits and failures are the same. The differences:
  ///
  /// - No response is known to crash or hang the process; fuzzers send it heads, bodies and frames of
  ///   HTTP/2. Truncated headers, trailer fields, and a header field without a blank after its colon
  ///   are handled.
  /// - A connection is not read while its sink is busy, so a slow sink does not delay other tasks,
  ///   and a low ``bytesPerSecond`` does not make tasks time out.
  /// - A request is repeated without a delay, within its idle time, if the server ends its HTTP/2 connection
  ///   (GOAWAY) and has not processed it, up to 100 times; if the server refuses its stream, or closes
  ///   an idle connection that is used again, up to 5 times.
  /// - Bytes that were received but not yet passed to the sink are lost when a connection breaks,
  ///   and fetched again.
  /// - `TaskRequest.allowsCellular` has no effect.
  /// - Proxies are those of `ConnectionSettings`; environment variables such as `http_proxy` have no
  ///   effect of their own.
  ///
  /// Sinks are called on the transport's queue, each sink by one thread at a time. They may block
  /// and may call any method of the transport.
  ///
  /// ```swift
  /// let transport = AsyncHTTPClientTransport(idleTimeout: .seconds(30), bytesPerSecond: 2_000_000)
  /// let engine = try DownloadEngine(store: store, transport: transport)
  /// // Later, to remove the limit:
  /// transport.bytesPerSecond = nil
  /// ```
  public final class AsyncHTTPClientTransport: Transport {
    private let clients: ClientPool
    private let fetches: LiveTaskTable<Fetch>
    private let idleWatch: IdleWatch
    private let limiter: RateLimiter
    private let executor = SinkExecutor()

    /// Creates a transport with its own connection pool.
    ///
    /// TLS 1.2 is the minimum. It trusts the system's certificates. If the environment variable
    /// `SSL_CERT_FILE` names a file of PEM certificates, TLS trusts those instead.
    ///
    /// - Parameters:
    ///   - idleTimeout: The time without data from the server after which a task fails with
    ///     `timedOut`. It also covers the DNS lookup, connecting, and waiting for a free
    ///     connection. Time spent in the sink does not count.
    ///   - connectionsPerHost: The number of HTTP/1 connections per host. Further tasks wait, and
    ///     their idle time runs, so keep this at or above the engine's limit.
    ///   - bytesPerSecond: The limit in ``bytesPerSecond``.
    public convenience init(
      idleTimeout: Duration = .seconds(60),
      connectionsPerHost: Int = 16,
      bytesPerSecond: Int64? = nil
    ) {
      self.init(
        idleTimeout: idleTimeout,
        connectionsPerHost: connectionsPerHost,
        bytesPerSecond: bytesPerSecond,
        tls: .secureClient,
        connection: ConnectionSettings()
      )
    }

    /// Creates a transport with its own connection pool, and settings for its connections.
    ///
    /// The proxies must speak HTTP, or SOCKS 5 without credentials; a request through any other one
    /// fails with `cannotConnect`. The other parameters are those of
    /// ``init(idleTimeout:connectionsPerHost:bytesPerSecond:)``.
    ///
    /// - Throws: `DownloadFailure` with `insecure` if a certificate or a key cannot be read.
    public convenience init(
      idleTimeout: Duration = .seconds(60),
      connectionsPerHost: Int = 16,
      bytesPerSecond: Int64? = nil,
      connection: ConnectionSettings
    ) throws {
      self.init(
        idleTimeout: idleTimeout,
        connectionsPerHost: connectionsPerHost,
        bytesPerSecond: bytesPerSecond,
        tls: try .forClient(connection),
        connection: connection
      )
    }

    /// Reads the files that the settings name, and creates nothing.
    ///
    /// - Throws: `DownloadFailure` with `insecure` if a certificate or a key cannot be read, or if the key
    ///   does not belong to the certificate.
    package static func checkFiles(of connection: ConnectionSettings) throws {
      _ = try TLSConfiguration.forClient(connection)
    }

    /// Returns an IP address of a network interface, IPv4 if it has one; `nil` if it has none.
    package static func address(ofInterface name: String) -> String? {
      let devices = (try? System.enumerateDevices()) ?? []
      let addresses = devices.filter { $0.name == name }.compactMap(\.address)
      return [.inet, .inet6].lazy.compactMap { family in
        addresses.first { $0.protocol == family }?.ipAddress
      }.first
    }

    /// Whether this machine has an IP address, from which a socket can connect.
    package static func hasAddress(_ address: String) throws -> Bool {
      do {
        let local = try SocketAddress(ipAddress: address, port: 0)
        let group = MultiThreadedEventLoopGroup.singleton
        try DatagramBootstrap(group: group).bind(to: local).wait().close().wait()
        return true
      } catch let error as IOError {
        return error.errnoCode != EADDRNOTAVAIL && error.errnoCode != EAFNOSUPPORT
      }
    }

    private init(
      idleTimeout: Duration,
      connectionsPerHost: Int,
      bytesPerSecond: Int64?,
      tls: TLSConfiguration,
      connection: ConnectionSettings
    ) {
      precondition(connectionsPerHost > 0, "a transport needs at least one connection per host")
      let fetches = LiveTaskTable<Fetch>()
      self.fetches = fetches
      idleWatch = IdleWatch(fetches, limit: idleTimeout)
      limiter = RateLimiter(bytesPerSecond: bytesPerSecond)
      // The transport follows redirects and measures idle time itself: the client's idle timer also
      // runs while a sink is busy.
      var configuration = HTTPClient.Configuration(
        tlsConfiguration: tls,
        redirectConfiguration: .disallow,
        timeout: HTTPClient.Configuration.Timeout(connect: TimeAmount(idleTimeout))
      )
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
      // The engine decides about retries, not the pool.
      configuration.connectionPool.retryConnectionEstablishment = false
      configuration.localAddress = connection.bindingAddress
      clients = ClientPool(configuration: configuration, connection)
    }

    /// Cancels all running tasks.
    ///
    /// Every sink receives `finish`.
    deinit {
      idleWatch.stop()
      for fetch in fetches.all { fetch.end(.cancelled) }
      clients.shutdown()
    }

    /// The rate limit for the bodies of all tasks together, in bytes per second; `nil` for none.
    ///
    /// The transport reads more only when the limit allows it, so the kernel's buffers fill and the
    /// servers slow down. Must be positive; takes effect immediately.
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
      let fetch = fetches.add(recordID: request.recordID, sink: sink) { Fetch(gate: $0) }
      do throws(DownloadFailure) {
        let prepared = try PreparedRequest(request)
        fetch.begin(on: executor) { [clients, limiter] in
          await fetch.run(prepared, clients: clients, limiter: limiter)
        }
        idleWatch.wake()
      } catch {
        fetch.end(.failed(error))
      }
      return fetch.gate.id
    }

    /// Cancels a task.
    ///
    /// After this returns, the only further call to the sink is `finish`, which does not wait for
    /// the network. Does nothing for a task that has ended.
    public func cancel(_ task: TaskID) {
      fetches[task]?.end(.cancelled)
    }

    /// 200 MB/s.
    ///
    /// The client, and not the server, limits a connection that is so fast. On a local connection
    /// four of them took 18 % longer than one for 1 GiB, and 35 % more processor time.
    public var splitRateLimit: Int64? { 200_000_000 }

    /// The tasks whose sinks have not received `finish` yet, in the order of their start.
    public func liveTasks() async -> [TaskSnapshot] {
      fetches.all.map(\.gate.snapshot)
    }
  }

  extension ConnectionSettings {
    /// The address to which sockets are bound; `nil` for none.
    ///
    /// A socket that is bound to the unspecified address of a family connects to no other family.
    fileprivate var bindingAddress: String? {
      if let localAddress { return localAddress }
      return switch addressFamily {
      case nil: nil
      case .ipv4: "0.0.0.0"
      case .ipv6: "::"
      }
    }
  }
#endif
