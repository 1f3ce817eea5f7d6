#if AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import Foundation
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOHTTP2
  internal import NIOSSL

  /// A channel handler that sends the request target of a ``RequestURL`` unchanged, and sends no request
  /// to a server whose certificate is not for the host of the URL (``CertificateNames``).
  ///
  /// AsyncHTTPClient takes the target from Foundation's `URL`, whose path is empty if an escape is
  /// not UTF-8: the request would be for `/`. So the client receives a URL without a path, and the
  /// target in a field, which this handler removes. A forwarding proxy receives the absolute URL as
  /// the target (RFC 9112, 3.2.2), for which the client has no setting. The host of a URL with `https`
  /// is in a field, too.
  final class RequestTargetHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The name of the field, which no server receives.
    static let field = "Dlstore-Request-Target"
    /// The name of the field with the host, which no server receives.
    static let hostField = "Dlstore-Server-Host"

    /// Whether certificates are compared with hosts.
    private let checksHosts: Bool

    init(checksHosts: Bool) { self.checksHosts = checksHosts }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard case .head(var head) = unwrapOutboundIn(data) else {
        return context.write(data, promise: promise)
      }
      let host = head.headers.first(name: Self.hostField) ?? ""
      head.headers.remove(name: Self.hostField)
      guard isServer(host, context) else {
        let error = NIOSSLExtraError.failedToValidateHostname
        promise?.fail(error)
        context.fireErrorCaught(error)
        context.close(promise: nil)
        return
      }
      if let target = head.headers.first(name: Self.field) {
        head.headers.remove(name: Self.field)
        head.uri = target
      }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// Whether the certificate of the connection, if it has one, is that of a host.
    private func isServer(_ host: String, _ context: ChannelHandlerContext) -> Bool {
      guard checksHosts, let names = Self.peerNames(context) else { return true }
      return names.contain(host)
    }

    /// The names of the server's certificate; `nil` without NIOSSL, as with Network.framework, which
    /// compares hosts by itself.
    private static func peerNames(_ context: ChannelHandlerContext) -> CertificateNames? {
      // A stream of HTTP/2 has its TLS in the connection.
      let channel = context.channel.parent ?? context.channel
      do {
        let certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate()
        return certificate.map { CertificateNames($0) }
      } catch {
        return nil
      }
    }
  }

  extension PreparedRequest {
    /// The URL of the server or proxy to which the client connects, and the fields for the client.
    func connection(by route: Route) -> (url: String, fields: [HeaderField]) {
      func target(_ value: String) -> HeaderField {
        HeaderField(name: RequestTargetHandler.field, value: value)
      }
      guard case .forward(let proxy) = route else {
        var fields = [target(url.target)]
        if url.scheme == .https {
          fields.append(HeaderField(name: RequestTargetHandler.hostField, value: url.host))
        }
        return ("\(url.scheme.rawValue)://\(url.authority)/", fields)
      }
      let host = proxy.host.contains(":") ? "[\(proxy.host)]" : proxy.host
      var fields = [target(url.absoluteForm)]
      if !self.fields.contains(where: { $0.name.lowercased() == "host" }) {
        fields.append(HeaderField(name: "Host", value: url.authority))
      }
      if proxy.user != nil || proxy.password != nil {
        let login = HeaderField.basic(user: proxy.user, password: proxy.password)
        fields.append(HeaderField(name: "Proxy-Authorization", value: login))
      }
      return ("http://\(host):\(proxy.port)/", fields)
    }
  }
#endif
