#if Server
  internal import DownloadReports
  public import DownloadStore
  internal import Hummingbird
  internal import HummingbirdCore
  internal import HummingbirdTLS
  public import Logging
  internal import NIOCore
  internal import NIOSSL
  internal import ObjectStore

  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif

  /// The web page, the HTTP API and the metrics of a store.
  ///
  /// The server shows what all processes do with the store, and needs no engine. It may run beside one
  /// of any process, also of its own.
  ///
  /// ```swift
  /// let store = try RecordStore(at: "downloads")
  /// var options = ServerOptions()
  /// options.allowsChanges = true
  /// let server = DownloadServer(store: store, options: options)
  /// try await server.run { address in print("open", address.startURL) }
  /// ```
  public struct DownloadServer: Sendable {
    /// Where a running server can be reached.
    public struct Address: Sendable, Hashable {
      /// The URL without the token; `nil` for a socket.
      public var url: String?
      /// The URL with the token, for a browser; `nil` for a socket.
      public var startURL: String?
      /// The port; `nil` for a socket.
      public var port: Int?
      /// The path of the socket; `nil` for an address.
      public var socketPath: String?
    }

    private let store: RecordStore
    private let options: ServerOptions
    private let logger: Logger

    /// Creates a server, which does not run yet.
    ///
    /// - Parameters:
    ///   - store: The store. A server that changes nothing may have one that was opened for reading.
    ///   - options: The options.
    ///   - logger: The logger, for errors of the store; `nil` for none. Tokens are not logged.
    public init(
      store: RecordStore,
      options: ServerOptions = ServerOptions(),
      logger: Logger? = nil
    ) {
      self.store = store.refusingHiddenFolders()
      self.options = options
      self.logger = logger ?? Self.silentLogger
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter onStart: Called once connections are accepted.
    /// - Throws: ``ServerStartError``; `CancellationError` if the task was cancelled.
    public func run(onStart: @escaping @Sendable (Address) -> Void = { _ in }) async throws {
      let feed = LiveFeed(of: store, logger: logger)
      let place = try await ServerPlace(options.endpoint)
      let listener = Listener()
      let application = try application(feed, place, listener, onStart)
      let result: Result<Void, any Error>
      do {
        try await withThrowingTaskGroup { group in
          group.addTask { await feed.run(heartbeat: options.limits.heartbeat) }
          group.addTask { try await listener.run(application) }
          defer { group.cancelAll() }
          try await group.next()
        }
        result = .success(())
      } catch let error as IOError {
        result = .failure(ServerStartError(error, options.endpoint))
      } catch let error as SocketAddressError.UnknownHost {
        result = .failure(ServerStartError(error))
      } catch {
        // A server whose socket was closed has ended unexpectedly for Hummingbird.
        result = Task.isCancelled ? .success(()) : .failure(error)
      }
      await place.remove()
      try result.get()
      try Task.checkCancellation()
    }

    private func application(
      _ feed: LiveFeed,
      _ place: ServerPlace,
      _ listener: Listener,
      _ onStart: @escaping @Sendable (Address) -> Void
    ) throws -> some ApplicationProtocol {
      var routes = ServerRoutes()
      let context = ServerContext(store: store, feed: feed, options: options, logger: logger)
      EventRoutes.add(to: &routes, context)
      APIRoutes.add(to: &routes, context)
      PageRoutes.add(to: &routes, context)
      StoreExportRoutes.add(to: &routes, context)
      CommandRoutes.add(to: &routes, context)
      Aria2Routes.add(to: &routes, context)
      MetricsRoutes.add(to: &routes, context)
      let connections = ConnectionLimit(maximum: options.limits.connections)
      let responder = SecureResponder(
        rules: AccessRules(
          token: options.token,
          hosts: options.hosts,
          allowsChanges: options.allowsChanges,
          rpcOrigins: options.rpcOrigins
        ),
        isSecure: options.tls != nil,
        routes: routes.router.buildResponder(),
        methods: routes.methods,
        server: context
      )
      // Its log contains targets of requests.
      let silent = Self.silentLogger
      return Application(
        responder: responder,
        server: try builder(connections),
        configuration: ApplicationConfiguration(
          address: place.bindAddress,
          serverName: nil,
          backlog: 256,
          reuseAddress: true,
          availableConnectionsDelegate: connections
        ),
        onServerRunning: { channel in
          place.publish()
          listener.open(channel, connections)
          onStart(address(port: channel.localAddress?.port))
        },
        logger: silent
      )
    }

    static var silentLogger: Logger {
      Logger(label: "dlstore.server", factory: { _ in SwiftLogNoOpLogHandler() })
    }

    private func builder(
      _ connections: ConnectionLimit
    ) throws(ServerStartError) -> HTTPServerBuilder {
      let limits = options.limits
      let http = HTTPServerBuilder.http1(
        configuration: HTTP1Channel.Configuration(
          additionalChannelHandlers: [ConnectionGuard(limits, connections)],
          idleTimeout: TimeAmount(limits.idleTime),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: limits.headerBytes,
            maxHeaderListSize: limits.headerBytes,
            maxHeaderFieldCount: 100
          )
        )
      )
      guard let tls = options.tls else { return http }
      return try ServerCertificate(tls).wrapping(http)
    }

    private func address(port: Int?) -> Address {
      switch options.endpoint {
      case .socket(let path): return Address(socketPath: path)
      case .address(let host, _):
        // A browser cannot open the address that stands for all.
        let isAny = host == "0.0.0.0" || host == "::"
        let name = isAny ? ProcessInfo.processInfo.hostName : host
        let shown = name.contains(":") ? "[\(name)]" : name
        let url = "\(options.tls == nil ? "http" : "https")://\(shown):\(port ?? 0)/"
        let start = options.token.map { "\(url)?token=\($0.text)" } ?? url
        return Address(url: url, startURL: start, port: port)
      }
    }
  }
#endif
