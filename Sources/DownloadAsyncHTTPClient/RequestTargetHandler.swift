#if AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import Foundation
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOHTTP2

  /// A channel handler that sends the request target of a ``RequestURL`` unchanged.
  ///
  /// AsyncHTTPClient takes the target from Foundation's `URL`, whose path is empty if an escape is
  /// not UTF-8: the request would be for `/`. So the client receives a URL without a path, and the
  /// target in a field, which this handler removes. A forwarding proxy receives the absolute URL as
  /// the target (RFC 9112, 3.2.2), for which the client has no setting.
  final class RequestTargetHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The name of the field, which no server receives.
    static let field = "Dlstore-Request-Target"

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard case .head(var head) = unwrapOutboundIn(data),
        let target = head.headers.first(name: Self.field)
      else { return context.write(data, promise: promise) }
      head.headers.remove(name: Self.field)
      head.uri = target
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
  }

  extension PreparedRequest {
    /// The URL of the server or proxy to which the client connects, and the fields for the client.
    func connection(by route: Route) -> (url: String, fields: [HeaderField]) {
      func target(_ value: String) -> HeaderField {
        HeaderField(name: RequestTargetHandler.field, value: value)
      }
      guard case .forward(let proxy) = route else {
        return ("\(url.scheme.rawValue)://\(url.authority)/", [target(url.target)])
      }
      let host = proxy.host.contains(":") ? "[\(proxy.host)]" : proxy.host
      var fields = [target(url.absoluteForm)]
      if !self.fields.contains(where: { $0.name.lowercased() == "host" }) {
        fields.append(HeaderField(name: "Host", value: url.authority))
      }
      if proxy.user != nil || proxy.password != nil {
        let credentials = Data("\(proxy.user ?? ""):\(proxy.password ?? "")".utf8)
        fields.append(
          HeaderField(
            name: "Proxy-Authorization",
            value: "Basic \(credentials.base64EncodedString())"
          )
        )
      }
      return ("http://\(host):\(proxy.port)/", fields)
    }
  }
#endif
