#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import Foundation
  internal import NIOCore
  internal import NIOPosix
  internal import NIOSSL
  internal import SystemInterface

  /// The way of a request to its server.
  enum Route: Sendable, Hashable {
    case direct
    /// Through a connection that the proxy passes on unread: CONNECT, or SOCKS.
    case tunnel(ProxyServer)
    /// By the proxy, which receives the absolute URL (RFC 9112, 3.2.2).
    ///
    /// AsyncHTTPClient would use CONNECT for `http` URLs, too, which many proxies refuse for other
    /// ports than 443.
    case forward(ProxyServer)

    init(to url: RequestURL, _ proxies: ProxySettings) {
      self =
        switch proxies.server(for: url) {
        case nil: .direct
        case let proxy? where proxy.kind == .http && url.scheme == .http:
          .forward(proxy)
        case let proxy?: .tunnel(proxy)
        }
    }

    /// The proxy; `nil` for a direct connection.
    var proxy: ProxyServer? {
      switch self {
      case .direct: nil
      case .tunnel(let proxy), .forward(let proxy): proxy
      }
    }
  }

  /// The clients of a transport: one for each route, with and without the client certificate.
  ///
  /// A client of AsyncHTTPClient has one proxy and one certificate, but the route of a request and
  /// the origins that may see the certificate depend on its URL.
  final class ClientPool: Sendable {
    private struct Key: Hashable {
      var route: Route
      var showsCertificate: Bool
      /// The address that replaces those of DNS for all requests of the client.
      var address: HostAddress?
    }

    private struct State {
      var clients: [Key: HTTPClient] = [:]
      /// Whether no further client is created: nothing would shut it down, and a debug build ends when a
      /// client is released before that.
      var isClosed = false
    }

    private let configuration: HTTPClient.Configuration
    private let proxies: ProxySettings
    private let addresses: [HostAddress]
    // Held to look a client up or to create one, which connects to nothing.
    private let state = Mutex(State())

    // Created with the pool: without a free descriptor for a loop, NIO ends the process.
    private let eventLoops = MultiThreadedEventLoopGroup.singleton

    init(configuration: HTTPClient.Configuration, _ connection: ConnectionSettings) {
      var configuration = configuration
      // A program that accepts any host has said so.
      let checksHosts =
        configuration.tlsConfiguration?.certificateVerification ?? .fullVerification
        == .fullVerification
      let keys = KeyCheck(keys: connection.pinnedKeys)
      configuration.http1_1ConnectionDebugInitializer = { channel in
        keys.check(channel).flatMap { Connection.prepare(channel, checksHosts: checksHosts) }
      }
      configuration.http2ConnectionDebugInitializer = keys.check
      configuration.http2StreamChannelDebugInitializer = { channel in
        Connection.prepare(stream: channel, checksHosts: checksHosts)
      }
      self.configuration = configuration
      proxies = connection.proxies
      addresses = connection.hostAddresses
      limits = ConnectionLimits(
        minimumTLSVersion: connection.minimumTLSVersion,
        addressFamily: connection.addressFamily
          ?? connection.localAddress.flatMap { AddressFamily(ofAddress: $0) }
      )
    }

    /// The address of this machine from which connections are made.
    var localAddress: String? { configuration.localAddress }

    /// How long a ``CertificateProbe`` may take: five seconds, or a twelfth of the time that
    /// connecting may take.
    var probeTimeLimit: TimeAmount {
      max(.seconds(5), .nanoseconds((configuration.timeout.connect?.nanoseconds ?? 0) / 12))
    }

    /// Returns the address that replaces those of DNS for direct connections to the server of a URL.
    func address(for url: RequestURL) -> HostAddress? { addresses.first { $0.applies(to: url) } }

    /// What the clients accept.
    let limits: ConnectionLimits

    /// What the clients require of a server's certificate.
    var tls: TLSConfiguration? { configuration.tlsConfiguration }

    /// Returns the route of a request to a URL.
    func route(to url: RequestURL) -> Route { Route(to: url, proxies) }

    /// Returns the route of a request, and its client.
    ///
    /// - Throws: `DownloadFailure` with `cannotConnect` if the client cannot use the proxy of the route:
    ///   nothing is sent to it. `CancellationError` after ``shutdown()``.
    func client(for request: PreparedRequest) throws -> (client: HTTPClient, route: Route) {
      let route = route(to: request.url)
      if let proxy = route.proxy, let obstacle = ProxyObstacle(proxy) {
        throw DownloadFailure(
          .cannotConnect,
          "AsyncHTTPClient does not support \(obstacle.text(proxy))",
          detail: .proxy
        )
      }
      let hasCertificate = configuration.tlsConfiguration?.certificateChain.isEmpty == false
      // A client replaces the address of a name for all ports, so each replacement has its own.
      let key = Key(
        route: route,
        showsCertificate: hasCertificate && request.showsCertificate,
        address: route == .direct ? address(for: request.url) : nil
      )
      let client = try state.withLock { state in
        guard !state.isClosed else { throw CancellationError() }
        if let client = state.clients[key] { return client }
        var configuration = configuration
        if case .tunnel(let proxy) = route {
          configuration.proxy = HTTPClient.Configuration.Proxy(proxy)
        }
        if !key.showsCertificate {
          configuration.tlsConfiguration?.certificateChain = []
          configuration.tlsConfiguration?.privateKey = nil
        }
        if let address = key.address {
          configuration.dnsOverride = [request.url.host: address.address]
        }
        let client = HTTPClient(
          eventLoopGroup: eventLoops,
          configuration: configuration
        )
        state.clients[key] = client
        return client
      }
      return (client, route)
    }

    /// Closes all connections, and creates no further ones.
    func shutdown() {
      let clients = state.withLock { state in
        state.isClosed = true
        return Array(state.clients.values)
      }
      for client in clients {
        // The closure keeps the client until its connections are closed.
        client.shutdown { [client] _ in withExtendedLifetime(client) {} }
      }
    }
  }

  extension HTTPClient.Configuration.Proxy {
    /// Creates the client's form of a proxy without a ``ProxyObstacle``.
    fileprivate init(_ proxy: ProxyServer) {
      precondition(ProxyObstacle(proxy) == nil, "the client cannot use this proxy")
      switch proxy.kind {
      case .socks5, .socks5h: self = .socksServer(host: proxy.host, port: proxy.port)
      case .http, .https:
        guard proxy.user != nil || proxy.password != nil else {
          self = .server(host: proxy.host, port: proxy.port)
          return
        }
        self = .server(
          host: proxy.host,
          port: proxy.port,
          authorization: .basic(username: proxy.user ?? "", password: proxy.password ?? "")
        )
      }
    }
  }

  extension TLSConfiguration {
    /// The client configuration of NIO with TLS 1.2 as the minimum (RFC 8996); NIO allows TLS 1.0.
    ///
    /// It trusts the certificates in the file that the variable `SSL_CERT_FILE` names; without one, the
    /// system's.
    static var secureClient: Self {
      var tls = Self.makeClientConfiguration()
      tls.minimumTLSVersion = .tlsv12
      if let file = ProcessInfo.processInfo.environment["SSL_CERT_FILE"], !file.isEmpty {
        tls.trustRoots = .file(file)
      }
      return tls
    }

    /// Creates a configuration with the certificates of the settings.
    ///
    /// - Throws: `DownloadFailure` with `insecure` if a file cannot be read.
    static func forClient(_ settings: ConnectionSettings) throws -> Self {
      var tls = Self.secureClient
      if settings.minimumTLSVersion == .tls13 { tls.minimumTLSVersion = .tlsv13 }
      try requireReadable(
        [settings.certificateAuthorities, settings.clientCertificate, settings.clientKey]
      )
      if let file = settings.certificateAuthorities {
        // Read now, so that an unreadable file is reported at once and not by each connection.
        tls.trustRoots = .certificates(try Self.certificates(in: file))
      }
      if let file = settings.clientCertificate {
        tls.certificateChain = try Self.certificates(in: file).map { .certificate($0) }
        let keyFile = settings.clientKey ?? file
        do {
          tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: keyFile, format: .pem))
        } catch {
          throw DownloadFailure(.insecure, "\(keyFile) is not a readable PEM file with a key")
        }
        try requireMatchingKey(of: tls, file, keyFile)
      }
      return tls
    }

    /// Throws if the key is not that of the certificate, which each connection would report.
    private static func requireMatchingKey(
      of client: Self,
      _ file: String,
      _ keyFile: String
    ) throws {
      var tls = Self.makeClientConfiguration()
      // The system's certificates are not needed, and take long to read.
      tls.trustRoots = .certificates([])
      tls.certificateChain = client.certificateChain
      tls.privateKey = client.privateKey
      do {
        _ = try NIOSSLContext(configuration: tls)
      } catch {
        throw DownloadFailure(
          .insecure,
          "the key in \(keyFile) does not belong to the first certificate in \(file)"
        )
      }
    }

    private static func certificates(in file: String) throws -> [NIOSSLCertificate] {
      let certificates = try? NIOSSLCertificate.fromPEMFile(file)
      guard let certificates, !certificates.isEmpty else {
        throw DownloadFailure(.insecure, "\(file) is not a readable PEM file with certificates")
      }
      return certificates
    }

    /// Throws the reason why the system cannot open one of the files: the libraries do not tell it.
    private static func requireReadable(_ files: [String?]) throws {
      for case let file? in files where access(file, R_OK) != 0 {
        throw DownloadFailure(.insecure, "cannot read \(file): \(systemErrorText())")
      }
    }
  }
#endif
