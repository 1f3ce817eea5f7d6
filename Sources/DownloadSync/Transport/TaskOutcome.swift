internal import DownloadStore

/// How a task ended.
public enum TaskOutcome: Sendable, Hashable {
  /// The response is complete as far as the protocol can tell. The status may be any: a 404 ends
  /// like this too.
  case completed
  /// Somebody asked for the end.
  case cancelled
  /// The transfer broke.
  case failed(TaskFailure)
}

/// Why a transfer broke, in terms that do not depend on the transport.
public struct TaskFailure: Error, Sendable, Hashable {
  /// The kinds of failure that an engine treats differently.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Nothing arrived for as long as the idle time-out allows.
    case timedOut
    /// The host is known but does not take the connection.
    case cannotConnect
    /// The host's name cannot be resolved; also the case when the machine is offline.
    case cannotFindHost
    /// The connection ended before the response did.
    case connectionLost
    /// The server's certificate or the handshake was refused. Never retried by itself.
    case insecure
    /// The response is not HTTP that the transport can read.
    case badResponse
    /// More redirects than the transport follows, or one to a scheme it refuses.
    case badRedirect
    /// The URL is not one that the transport can fetch.
    case unsupportedURL
    /// This machine is short of descriptors, memory or buffers: the server was not asked.
    case outOfResources
    /// Anything else.
    case unknown
  }

  /// The kind of failure.
  public var code: Code
  /// The transport's own words, for people.
  public var message: String

  /// Creates a failure.
  ///
  /// Secrets of URLs in the message are hidden: it is stored, logged and shown.
  public init(code: Code, message: String) {
    self.code = code
    self.message = Redaction.text(message)
  }
}
