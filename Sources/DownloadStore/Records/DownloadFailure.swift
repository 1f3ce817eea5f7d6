/// The failure of an attempt, as a transport reports it or the engine determines it.
///
/// ```swift
/// do {
///   print(try await handle.value().filePath)
/// } catch let failure as DownloadFailure where failure.code == .notFound {
///   print("not on the server:", failure.message)
/// }
/// ```
public struct DownloadFailure: Error, Sendable, Hashable {
  /// The failure codes, by their stored and displayed names.
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
    /// The server denied access: 401 or 403.
    case refused
    /// The server denied access to a URL that worked before, for example because a signed link
    /// expired.
    case needsURL
    /// The server has no such file: 404 or 410.
    case notFound
    /// Another permanent error status.
    case rejected
    /// A temporary error status: 408, 425, 429 or 5xx.
    case serverBusy
    /// The body does not have the declared length.
    case wrongLength
    /// The file on the server has changed.
    case entityChanged
    /// The body has a coding that was not requested.
    case unexpectedCoding
    /// The file does not have the expected digest.
    case digestMismatch
    /// A piece of the file does not have the expected digest. The other pieces are kept.
    case pieceMismatch
    /// The disk is full.
    case diskFull
    /// A file could not be written.
    case fileSystem
    /// Another process is using the partial file.
    case fileInUse
    /// The process crashed at each attempt.
    case quarantined
    /// A request interceptor or an authorizer failed, or a check refused the response.
    case interceptorFailed
    /// The file is larger than the engine's options allow.
    case tooLarge
    /// This machine lacks file descriptors, memory or buffers; not counted as a failed attempt.
    case outOfResources
    /// The file cannot be reached at the moment, for example on a network volume.
    case fileUnavailable
    /// Any other failure.
    case unknown
  }

  /// What a failure is about where its code leaves open what the user can do, by stored names.
  public enum Detail: String, Sendable, Hashable, CaseIterable {
    /// The proxy cannot be reached, opens no connection to the server, or does not answer.
    case proxy
    /// The server requires a login: 401.
    case login
    /// The server refuses the login or the secret header fields that were sent: 401.
    case loginRefused
    /// The server accepts only logins of kinds that are not supported, such as Digest: 401.
    case loginKind
    /// The request was redirected to another origin, which requires a login: 401. Credentials for the
    /// first one were not sent there.
    case redirectedLogin
    /// The proxy requires a login: 407.
    case proxyLogin
    /// The issuer of the server's certificate is not trusted.
    case untrustedIssuer
    /// The server's certificate is for other hosts.
    case otherHostName
    /// The server offers only older versions of TLS than the lowest one that is accepted, and these could
    /// be accepted.
    case tlsVersion
    /// The key of the server's certificate is none of the pinned ones.
    case unpinnedKey
    /// The host has no address of the only family that may be connected to.
    case addressFamily
    /// The server answers an `https` request without TLS, or closes the connection during the handshake.
    case noTLS
    /// Another file has the name of the download, which requires it; see ``NameCollision/fail``.
    case nameTaken
    /// The folder that contains bytes of the download is missing.
    case folderMissing
    /// The store has no root of the download's name, so that nothing is known about its folder.
    case unknownRoot
    /// The server may expect TLS: the URL is one of http with a port, and the answer is none or an
    /// error that such servers send.
    case mayExpectTLS
  }

  /// The failure code.
  public var code: Code
  /// What the failure is about; `nil` where the code says enough.
  public var detail: Detail?
  /// A description for people.
  public var message: String

  /// Creates a failure.
  ///
  /// Secrets in URLs are redacted from the message, because it is stored, logged and displayed, and
  /// it is cut after 1,000 bytes: it may contain a text of the server.
  public init(_ code: Code, _ message: String, detail: Detail? = nil) {
    self.code = code
    self.detail = detail
    // Redacted first: a cut could remove the `@` after a password.
    let message = Redaction.text(message)
    self.message =
      message.utf8.count <= Self.longestMessage
      ? message : SafeFilename.prefix(of: message, bytes: Self.longestMessage) + "…"
  }

  /// The maximum length of a message in bytes, without the mark of a cut.
  private static let longestMessage = 1_000
}

extension DownloadFailure: CustomStringConvertible {
  /// The message, with the secrets in URLs redacted; the name of the code if the message is empty.
  public var description: String { message.isEmpty ? code.rawValue : Redaction.text(message) }
}
