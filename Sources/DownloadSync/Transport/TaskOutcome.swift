internal import DownloadStore

/// The outcome of a task.
public enum TaskOutcome: Sendable, Hashable {
  /// The response is complete, as far as the protocol can show. Its status may be any: a 404 also
  /// ends with this outcome.
  case completed
  /// The task was cancelled, by ``Transport/cancel(_:)`` or by its sink.
  case cancelled
  /// The transfer failed.
  case failed(TaskFailure)
}

/// The failure of a transfer, independent of the transport.
public struct TaskFailure: Error, Sendable, Hashable {
  /// The kinds of failure that the engine distinguishes.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// No data arrived within the idle time-out.
    case timedOut
    /// The host was found, but no connection could be established.
    case cannotConnect
    /// The host name could not be resolved. Also reported when the machine is offline.
    case cannotFindHost
    /// The connection was closed before the response was complete.
    case connectionLost
    /// The TLS handshake failed or the server's certificate was rejected. Never retried
    /// automatically.
    case insecure
    /// The response is not valid HTTP.
    case badResponse
    /// Too many redirects, or a redirect to a URL that the transport does not fetch.
    case badRedirect
    /// The transport cannot fetch the URL.
    case unsupportedURL
    /// This machine lacks file descriptors, memory or buffers. The server is not the cause.
    case outOfResources
    /// Anything else.
    case unknown
  }

  /// The kind of failure.
  public var code: Code
  /// The transport's description of the failure, for people.
  public var message: String

  /// Creates a failure.
  ///
  /// Secrets of URLs in the message are redacted, because it is stored, logged and displayed.
  public init(code: Code, message: String) {
    self.code = code
    self.message = Redaction.text(message)
  }
}
