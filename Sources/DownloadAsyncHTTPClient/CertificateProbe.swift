#if AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import Foundation
  internal import NIOCore
  internal import NIOPosix
  internal import NIOSSL
  internal import SystemInterface

  /// Asks a server for its certificate again, to say why the certificate was rejected.
  ///
  /// The client reports only that the check has failed, and accepts no check of its own. The probe
  /// opens one more connection, takes the certificate, and rejects it: its handshake never succeeds,
  /// so nothing is sent to the server. It does not change what the client accepts.
  struct CertificateProbe {
    let url: RequestURL
    let tls: TLSConfiguration
    /// The HTTP proxy through which to connect; `nil` for none.
    var proxy: ProxyServer?
    /// The address that replaces those of DNS; `nil` for none.
    var address: String?
    /// The address of this machine from which to connect; `nil` for any.
    var localAddress: String?
    /// How long a probe may take before the failure is reported without a reason.
    let timeLimit: TimeAmount

    /// Returns the certificate of the server; `nil` if it shows none in time.
    func certificate() async -> CertificateFacts? {
      var tls = tls
      // The certificate of this client is not shown to a server that is not trusted.
      tls.certificateChain = []
      tls.privateKey = nil
      // HTTP is never spoken.
      tls.applicationProtocols = []
      guard let context = try? NIOSSLContext(configuration: tls) else { return nil }
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let found = loop.makePromise(of: CertificateFacts?.self)
      let timeout = loop.scheduleTask(in: timeLimit) { found.succeed(nil) }
      let host = url.connectionHost
      let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
      var bootstrap = ClientBootstrap(group: loop)
      if let local = localAddress.flatMap({ try? SocketAddress(ipAddress: $0, port: 0) }) {
        bootstrap = bootstrap.bind(to: local)
      }
      let connection =
        bootstrap
        .connectTimeout(timeLimit)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            // The connection may end before the server has shown its certificate.
            channel.closeFuture.whenComplete { _ in found.succeed(nil) }
            func handshake() throws -> NIOSSLClientHandler {
              try NIOSSLClientHandler(
                context: context,
                serverHostname: isAddress ? nil : host,
                customVerificationCallback: { certificates, verdict in
                  found.succeed(certificates.first.map { CertificateFacts($0) })
                  verdict.succeed(.failed)
                }
              )
            }
            let pipeline = channel.pipeline.syncOperations
            guard let proxy else { return try pipeline.addHandler(handshake()) }
            let tunnel = ProxyTunnel(to: url, through: proxy) { tunnel, channel in
              try channel.pipeline.syncOperations.addHandler(handshake(), position: .after(tunnel))
            }
            try pipeline.addHandler(tunnel)
          }
        }
        .connect(
          host: proxy?.host ?? address ?? host,
          port: proxy?.port ?? url.port ?? url.scheme.defaultPort
        )
      connection.whenFailure { _ in found.succeed(nil) }
      let facts = try? await found.futureResult.get()
      timeout.cancel()
      connection.whenSuccess { $0.close(promise: nil) }
      return facts ?? nil
    }
  }

  extension RequestURL {
    /// The host without the brackets of an IPv6 address.
    fileprivate var connectionHost: String {
      host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }
  }
#endif
