#if AsyncHTTPClient
  internal import Foundation
  internal import NIOCore
  internal import NIOPosix
  internal import NIOSSL
  internal import SystemInterface

  /// The answer of a ``TLSConversation`` to bytes of a client.
  public struct TLSAnswer: Sendable {
    /// The bytes to send.
    public var bytes: [UInt8] = []
    /// Whether the connection is closed after them.
    public var closes = false

    /// Creates an answer.
    public init(_ bytes: [UInt8] = [], closes: Bool = false) {
      self.bytes = bytes
      self.closes = closes
    }
  }

  /// One connection of a ``TLSServer``, above TLS.
  public protocol TLSConversation: Sendable {
    /// Receives bytes, and returns what to send.
    mutating func receive(_ bytes: [UInt8]) -> TLSAnswer
  }

  /// A server on 127.0.0.1 that speaks TLS with a ``TestCertificate``, and any protocol above it.
  public final class TLSServer: Sendable {
    /// The versions of TLS that a server accepts.
    public enum Version: Sendable, CaseIterable {
      case tls10, tls11, tls12, tls13
    }

    /// A connection whose handshake is complete.
    public struct Peer: Sendable, Hashable {
      /// Whether the client has shown a certificate.
      public var hasCertificate: Bool
    }

    private let channel: any Channel
    private let log: PeerLog

    /// The port.
    public let port: Int

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - version: The only version of TLS, or `nil` for all.
    ///   - protocols: The protocols of ALPN.
    ///   - certificate: The certificate and its key, in PEM.
    ///   - conversation: Creates the conversation of a new connection.
    /// - Throws: An error of NIO.
    public init(
      version: Version? = nil,
      protocols: [String] = ["http/1.1"],
      certificate: String = TestCertificate.pem,
      conversation: @escaping @Sendable () -> any TLSConversation
    ) throws {
      let bytes = Array(certificate.utf8)
      let certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
      var tls = TLSConfiguration.makeServerConfiguration(
        certificateChain: certificates.map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: bytes, format: .pem))
      )
      let only: TLSVersion? =
        switch version {
        case nil: nil
        case .tls10: .tlsv1
        case .tls11: .tlsv11
        case .tls12: .tlsv12
        case .tls13: .tlsv13
        }
      tls.minimumTLSVersion = only ?? .tlsv1
      tls.maximumTLSVersion = only
      tls.applicationProtocols = protocols
      tls.trustRoots = .certificates(certificates)
      tls.certificateVerification = .optionalVerification
      let context = try NIOSSLContext(configuration: tls)
      let log = PeerLog()
      self.log = log
      channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(NIOSSLServerHandler(context: context))
            try pipeline.addHandler(ConversationHandler(conversation(), log))
          }
        }
        .bind(host: "127.0.0.1", port: 0).wait()
      port = channel.localAddress?.port ?? 0
    }

    deinit {
      channel.close(promise: nil)
    }

    /// The connections whose handshake was completed, in the order of their first bytes.
    public var peers: [Peer] { log.peers.withLock { $0 } }

    /// Returns the URL of a path.
    public func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }
  }

  private final class PeerLog: Sendable {
    // Held for an append or a copy.
    let peers = Mutex<[TLSServer.Peer]>([])
  }

  private final class ConversationHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var conversation: any TLSConversation
    private let log: PeerLog
    private var hasBegun = false

    init(_ conversation: any TLSConversation, _ log: PeerLog) {
      self.conversation = conversation
      self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if !hasBegun {
        hasBegun = true
        let tls = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        log.peers.withLock {
          $0.append(TLSServer.Peer(hasCertificate: tls?.peerCertificate != nil))
        }
      }
      let answer = conversation.receive(Array(unwrapInboundIn(data).readableBytesView))
      if !answer.bytes.isEmpty {
        let buffer = context.channel.allocator.buffer(bytes: answer.bytes)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
      }
      if answer.closes { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }

  /// Answers each request of HTTP/1.1 with the same bytes.
  public struct HTTP1Conversation: TLSConversation {
    private let reply: [UInt8]
    private var received: [UInt8] = []

    /// Creates a conversation.
    public init(_ reply: String) {
      self.reply = Array(reply.utf8)
    }

    /// Replies to each head of a request.
    public mutating func receive(_ bytes: [UInt8]) -> TLSAnswer {
      received += bytes
      var answer = TLSAnswer()
      while let end = received.firstRange(of: Array("\r\n\r\n".utf8)) {
        received.removeSubrange(..<end.upperBound)
        answer.bytes += reply
      }
      return answer
    }
  }
#endif
