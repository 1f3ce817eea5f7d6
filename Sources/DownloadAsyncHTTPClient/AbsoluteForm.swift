#if AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import Foundation
  internal import NIOCore
  internal import NIOHTTP1

  /// A request that a proxy forwards, as the client sends it: to the proxy, for the server in `Host`.
  struct ForwardedRequest {
    /// The URL with the address of the proxy.
    let url: String
    /// The fields that are added for the proxy.
    let fields: [HeaderField]

    init(_ url: String, through proxy: ProxyServer) {
      let rest = url.split(separator: "://", maxSplits: 1).last ?? ""
      let authority = rest.prefix { !"/?#".contains($0) }
      let target = rest.dropFirst(authority.count).prefix { $0 != "#" }
      let host = authority.split(separator: "@").last ?? ""
      let proxyHost = proxy.host.contains(":") ? "[\(proxy.host)]" : proxy.host
      self.url =
        "http://\(proxyHost):\(proxy.port)" + (target.hasPrefix("/") ? "" : "/") + String(target)
      var fields = [HeaderField(name: "Host", value: String(host))]
      if proxy.user != nil || proxy.password != nil {
        let credentials = Data("\(proxy.user ?? ""):\(proxy.password ?? "")".utf8)
        fields.append(
          HeaderField(
            name: "Proxy-Authorization",
            value: "Basic \(credentials.base64EncodedString())"
          )
        )
      }
      self.fields = fields
    }
  }

  /// A channel handler that requests the absolute URL, as a forwarding proxy needs it.
  final class AbsoluteForm: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard case .head(var head) = unwrapOutboundIn(data),
        let host = head.headers.first(name: "Host")
      else { return context.write(data, promise: promise) }
      head.uri = "http://\(host)\(head.uri)"
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// Adds the handler to a connection, and prepares it as any other.
    @Sendable
    static func add(toConnection channel: any Channel) -> EventLoopFuture<Void> {
      Connection.prepare(channel).flatMap {
        channel.eventLoop.submit {
          let pipeline = channel.pipeline.syncOperations
          let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
          try pipeline.addHandler(AbsoluteForm(), position: .after(decoder))
        }
      }
    }
  }
#endif
