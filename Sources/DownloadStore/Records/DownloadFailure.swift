/// Why an attempt failed.
public struct DownloadFailure: Error, Sendable, Hashable {
  /// The reasons that are told apart, by the names that are stored and shown.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Nothing arrived for as long as the idle time-out allows.
    case timedOut
    /// The host does not take the connection.
    case cannotConnect
    /// The host's name cannot be resolved.
    case cannotFindHost
    /// The connection ended before the response did.
    case connectionLost
    /// The certificate or the handshake was refused.
    case insecure
    /// The response is not HTTP that can be read.
    case badResponse
    /// Too many redirects, or one to where we do not follow.
    case badRedirect
    /// The URL is not one that can be fetched.
    case unsupportedURL
    /// The server refuses: 401 or 403.
    case refused
    /// The server refuses what it gave before, as when a signed link has expired.
    case needsURL
    /// There is nothing at the URL: 404 or 410.
    case notFound
    /// Another status that will not change by itself.
    case rejected
    /// The server asks for patience: 408, 425, 429, or any 5xx.
    case serverBusy
    /// The body is not as long as the server said.
    case wrongLength
    /// The entity on the server is not the one that was begun.
    case entityChanged
    /// The body came in a coding that was not asked for.
    case unexpectedCoding
    /// The file does not have the digest that it must have.
    case digestMismatch
    /// The disk is full.
    case diskFull
    /// A file could not be written.
    case fileSystem
    /// Another process is using the partial file.
    case fileInUse
    /// The process ended abruptly each time that the transfer was tried.
    case quarantined
    /// A request interceptor failed.
    case interceptorFailed
    /// This machine is short of file descriptors or memory; not counted as a failed attempt.
    case outOfResources
    /// The file cannot be reached at the moment, as when a network volume has forgotten it.
    case fileUnavailable
    /// Anything else.
    case unknown
  }

  /// The reason.
  public var code: Code
  /// More about it, for people.
  public var message: String

  /// Creates a failure.
  ///
  /// Secrets of URLs in the message are hidden: it is stored, logged and shown.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = Redaction.text(message)
  }
}
