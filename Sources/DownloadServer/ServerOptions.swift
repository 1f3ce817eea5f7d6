/// The options of a ``DownloadServer``.
///
/// ```swift
/// var options = ServerOptions()
/// options.endpoint = .address("127.0.0.1", port: 8080)
/// options.allowsChanges = true
/// ```
public struct ServerOptions: Sendable {
  /// Where the server accepts connections.
  public enum Endpoint: Sendable, Hashable {
    /// An IP address or a host name, and a port; 0 for a free one.
    case address(String, port: Int)
    /// The path of a Unix socket, which only the user of the process may use.
    case socket(String)
  }

  /// The files of a server with TLS.
  public struct TLS: Sendable, Hashable {
    /// The PEM file with the certificate, followed by its issuers.
    public var certificateFile: String
    /// The PEM file with the key.
    public var keyFile: String

    /// Creates the names of the files.
    public init(certificateFile: String, keyFile: String) {
      self.certificateFile = certificateFile
      self.keyFile = keyFile
    }
  }

  /// Where the server accepts connections: by default port 6880 of 127.0.0.1.
  public var endpoint = Endpoint.address("127.0.0.1", port: ServerOptions.standardPort)
  /// The token that clients must have; by default a random one.
  ///
  /// `nil` for a socket, whose permissions decide.
  public var token: AccessToken? = AccessToken()
  /// The names by which clients may call the server; `nil` for a socket, where any name is allowed.
  public var hosts: HostRule? = HostRule()
  /// The certificate and the key of a server with TLS; `nil` for plain HTTP.
  public var tls: TLS?
  /// Whether clients may change the store: add downloads, and give commands.
  public var allowsChanges = false
  /// The origins whose pages may call aria2's JSON-RPC, such as `https://ariang.example.com`.
  public var rpcOrigins: Set<String> = []
  /// The limits of connections and requests.
  public var limits = ServerLimits()
  /// Runs a command of the command line for a client, and tells it whether the store may be changed;
  /// `nil` if the program has no command line.
  package var runCommand: CommandRunner?

  /// Runs the words of a command line with the bytes of the file that the client has read for it, if
  /// any, and says whether it may change the store.
  package typealias CommandRunner =
    @Sendable ([String], _ input: [UInt8]?, _ mayChange: Bool) async -> CommandAnswer

  /// The port of a server whose options name none.
  public static let standardPort = 6880

  /// Creates the options of a server that only this machine can reach, and that changes nothing.
  public init() {}
}

/// What a server allows a client to use.
public struct ServerLimits: Sendable, Hashable {
  /// The number of connections at a time.
  ///
  /// A further one takes the place of the one that has waited for a request for the longest, or else of
  /// the one whose request has been arriving for the longest. If all requests are being answered, it
  /// waits to be accepted.
  public var connections = 256
  /// The number of clients that follow the events at a time; further ones get the status 503.
  public var eventClients = 64
  /// The number of exports at a time that are in an order, each of which has the ids of its objects in
  /// memory; further ones get the status 503.
  public var sortedExports = 4
  /// The number of calls of aria2's RPC at a time of which more than 64 KiB have arrived, each of which
  /// needs several times its length of memory before its token is known; further ones get the status 503.
  public var longCalls = 8
  /// The number of commands of `dlstore --server` at a time that only read, and of those that may change
  /// the store, each of which has a thread; further ones get the status 503.
  public var commands = 8
  /// The size of a request's header fields in bytes.
  public var headerBytes = 32 * 1024
  /// The size of a request's body in bytes.
  public var bodyBytes = 4 * 1024 * 1024
  /// The time in which a request's header must arrive, and after which an idle connection is closed.
  public var idleTime = Duration.seconds(10)
  /// The time in which a request's body must arrive.
  public var bodyTime = Duration.seconds(60)
  /// The time after which a connection is closed that takes no bytes.
  public var stallTime = Duration.seconds(20)
  /// The time between two signs of life of the events.
  public var heartbeat = Duration.seconds(15)

  /// Creates the default limits.
  public init() {}
}
