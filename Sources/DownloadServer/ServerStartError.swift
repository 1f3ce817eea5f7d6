/// Why a server could not start.
public struct ServerStartError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of a ``ServerStartError``.
  public enum Code: Sendable, Hashable {
    /// The address or the socket is in use.
    case inUse
    /// The address or the socket cannot be used for another reason.
    case cannotListen
    /// The certificate or the key cannot be read, or do not belong together.
    case invalidCertificate
  }

  /// The kind of the error.
  public var code: Code
  /// What happened, without a full stop.
  public var message: String

  /// Creates an error.
  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}
