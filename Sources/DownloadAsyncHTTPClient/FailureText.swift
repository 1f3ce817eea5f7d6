#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import Foundation
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOHTTP2
  internal import NIOPosix
  internal import NIOSSL
  internal import SystemInterface

  /// The peers of a request, as messages name them.
  struct Peers: Sendable, Hashable {
    /// The host to which the connection is opened.
    let nearestHost: String
    /// The host of the server.
    let host: String
    /// Host and port of the server.
    let server: String
    /// Host and port of the proxy; `nil` without one.
    let proxy: String?

    /// Whether the server may expect TLS: the URL is one of http with a port.
    let mayExpectTLS: Bool

    /// The peers of a request to a URL.
    init(_ url: RequestURL, by route: Route) {
      host = url.host
      mayExpectTLS = url.scheme == .http && url.port != nil
      server = "\(url.host) port \(url.port ?? url.scheme.defaultPort)"
      switch route {
      case .direct: (nearestHost, proxy) = (url.host, nil)
      case .tunnel(let proxy), .forward(let proxy):
        (nearestHost, self.proxy) = (proxy.host, "\(proxy.host) port \(proxy.port)")
      }
    }

    /// The peer to which the connection is opened.
    var nearest: String { proxy.map { "the proxy \($0)" } ?? server }
  }

  /// A connection that the server closed before it sent anything.
  struct NoReply: Error {}

  /// The sentence of a message for an error of AsyncHTTPClient, SwiftNIO or NIOSSL.
  ///
  /// The descriptions of these libraries name types, functions and source files.
  struct FailureText {
    let peers: Peers
    /// Why the certificate of the server was rejected; `nil` if that is unknown.
    var problem: CertificateProblem?

    /// Returns the sentence.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - code: The failure that the error was mapped to.
    /// - Returns: The sentence, without a full stop.
    func message(of error: any Error, _ code: DownloadFailure.Code) -> String {
      let nearest = peers.nearest
      let text =
        switch code {
        case .cannotFindHost:
          peers.proxy == nil
            ? "there is no host '\(peers.nearestHost)'"
            : "there is no host '\(peers.nearestHost)' of the proxy \(peers.proxy ?? "")"
        case .cannotConnect: connecting(error)
        case .timedOut: "\(nearest) did not answer in time"
        case .connectionLost: closing(error)
        case .insecure: securing(error)
        case .badResponse: "the answer of \(peers.server) is not valid HTTP: \(reason(error))"
        case .outOfResources: "connecting to \(nearest): \(reason(error))"
        default: "\(peers.server): \(reason(error))"
        }
      // The proxy may be the cause of any failure.
      guard let proxy = peers.proxy, !text.contains(proxy) else { return text }
      return "\(text) (through the proxy \(proxy))"
    }

    private func connecting(_ error: any Error) -> String {
      if error as? HTTPClientError == .invalidProxyResponse {
        return "\(peers.nearest) did not open a connection to the server"
      }
      return Self.number(of: error) == ECONNREFUSED
        ? "\(peers.nearest) refused the connection"
        : "\(peers.nearest) cannot be reached: \(reason(error))"
    }

    private func closing(_ error: any Error) -> String {
      if error is NoReply {
        return "\(peers.server) closed the connection without an answer"
          + (peers.mayExpectTLS ? "; it may expect https" : "")
      }
      guard let number = Self.number(of: error), number == ECONNRESET || number == EPIPE else {
        return "\(peers.server) closed the connection before the end of the response"
      }
      return "\(peers.server) reset the connection"
    }

    private func securing(_ error: any Error) -> String {
      if let problem { return text(of: problem) }
      if error is NIOSSLExtraError {
        return "the certificate of \(peers.server) is for another host"
      }
      let reason = reason(error)
      switch reason {
      case "certificate verify failed": return "the certificate of \(peers.server) is not trusted"
      case "wrong version number", "http request", "packet length too long", "invalid alert":
        return "\(peers.server) does not speak TLS; the URL may begin with http instead"
      default: return "no secure connection to \(peers.server): \(reason)"
      }
    }

    private func text(of problem: CertificateProblem) -> String {
      switch problem {
      case .expired(let date):
        return "the certificate of \(peers.server) expired on \(Self.day(date))"
      case .notYetValid(let date):
        return
          "the certificate of \(peers.server) is valid from \(Self.day(date)) on; check the clock "
          + "of this machine"
      case .otherHosts(let names):
        let more = names.count > 3 ? " and \(names.count - 3) more" : ""
        let list = names.isEmpty ? "no host" : names.prefix(3).joined(separator: ", ") + more
        return "the certificate is for \(list), not for \(peers.host)"
      case .selfSigned:
        return "the certificate of \(peers.server) is not trusted, because it is self-signed"
      case .unknownIssuer:
        return "the certificate of \(peers.server) is not trusted, because its issuer is unknown"
      }
    }

    /// The day of a date, in UTC.
    private static func day(_ date: Date) -> String {
      date.formatted(.iso8601.year().month().day())
    }

    /// The error number of a system call that failed; `nil` if there is none.
    private static func number(of error: any Error) -> Int32? {
      switch error {
      case let error as IOError: error.errnoCode
      // One for each address of the host.
      case let error as NIOConnectionError:
        error.connectionErrors.lazy.compactMap { number(of: $0.error) }.first
      case let error as NIOHTTP2Errors.StreamError: number(of: error.baseError)
      default: nil
      }
    }

    /// The reason in words, without names of types, functions and files.
    private func reason(_ error: any Error) -> String {
      if let number = Self.number(of: error) { return systemErrorText(number) }
      if let error = error as? NIOSSLError, case .handshakeFailed(let cause) = error {
        return reason(cause)
      }
      let text = String(describing: error)
      // BoringSSL: `error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at …`.
      if let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound {
        let name = text[start...].prefix { $0 == "_" || $0.isLetter || $0.isNumber }
        return name.lowercased().replacing("_", with: " ")
      }
      switch error {
      // Its description is already a phrase.
      case is HTTPParserError: return text
      case is any NIOHTTP2Error: return "an error of HTTP/2, \(Self.words(text))"
      default: return Self.words(text)
      }
    }

    /// The last name in a description such as `HTTPClientError.remoteConnectionClosed`, in words.
    private static func words(_ text: String) -> String {
      let head = text.prefix { $0 != "(" && $0 != ":" && $0 != "[" && $0 != "{" }
      let name = head.split(separator: ".").last ?? head[...]
      var words = ""
      var last: Character?
      for character in name {
        if character.isUppercase, last?.isLowercase == true { words += " " }
        words += character.lowercased()
        last = character
      }
      return words
    }
  }
#endif
