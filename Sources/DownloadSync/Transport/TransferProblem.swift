package import DownloadStore

/// What kept a transport from a complete response.
///
/// The transports use different libraries, whose texts name types, functions and source files. Here
/// is the sentence of each problem, so that a failure reads alike with every transport.
package enum TransferProblem: Sendable, Hashable {
  /// The name of the nearest host cannot be resolved.
  case unknownHost
  case connectionRefused
  /// No connection could be made, for the reason if it is known.
  case unreachable(reason: String?)
  /// The nearest host has no address of the only family that may be connected to.
  case noAddress(AddressFamily)
  /// The proxy opened no connection to the server.
  case noTunnel
  case noAnswerInTime
  /// The server has sent nothing for this time.
  case silence(Duration)
  /// The same, before the first byte of a response.
  case noResponse(Duration)
  /// The connection closed before the first byte of a response.
  case noReply
  /// The connection closed within a response.
  case closed
  case reset
  case certificate(CertificateProblem)
  /// The server answers without TLS to an `https` request.
  case noTLS
  /// The server closed the connection during the TLS handshake.
  case noHandshake
  /// The server offers only older versions of TLS than this one.
  case oldTLS(minimum: ConnectionSettings.TLSVersion)
  /// The key of the server is none of the pinned ones.
  case unpinned(PinnedKey)
  case insecure(reason: String)
  case invalidResponse(ResponseDefect)
  /// The URL cannot be requested.
  case unsupportedURL(reason: String)
  /// This machine lacks descriptors, memory or buffers.
  case shortage(reason: String)
  case other(reason: String)
}

/// What is not valid HTTP in a response.
package enum ResponseDefect: Sendable, Hashable {
  /// It begins with other bytes than a status line.
  case notHTTP
  case version
  /// A field of its header.
  case field
  case longHeader
  case length
  /// A chunk of its body, or the frame of one.
  case chunk
  /// The body cannot be decoded.
  case coding
  case other(reason: String)
}

/// Why the certificate of a server was rejected.
package enum CertificateProblem: Sendable, Hashable {
  /// The day is `nil` if it is unknown, here and in the next case.
  case expired(day: String?)
  case notYetValid(day: String?)
  /// The certificate is for other hosts: `nil` if they are unknown, empty if there are none.
  case otherHosts([String]?)
  case selfSigned
  /// Neither the issuer nor an issuer of the issuer is trusted.
  case unknownIssuer
  /// The reason is unknown.
  case untrusted
}

/// The peers of a request, as messages name them.
package struct TransferPeers: Sendable, Hashable {
  /// The host to which the connection is opened.
  private let nearestHost: String
  /// The host of the server.
  private let host: String
  /// Host and port of the server.
  private let server: String
  /// Host and port of the proxy; `nil` without one.
  private let proxy: String?
  /// Whether the server may expect TLS: the URL is one of http with a port.
  private let mayExpectTLS: Bool

  /// The peers of a request to a URL, through a proxy if there is one.
  package init(_ url: RequestURL, through proxy: ProxyServer? = nil) {
    host = url.host
    // A proxy receives the request of an http URL.
    mayExpectTLS = url.scheme == .http && url.port != nil && proxy == nil
    server = "\(url.host) port \(url.port ?? url.scheme.defaultPort)"
    nearestHost = proxy?.host ?? url.host
    self.proxy = proxy.map { "\($0.host) port \($0.port)" }
  }

  /// Peers whose names are unknown.
  package static let unnamed = TransferPeers()

  private init() {
    (host, server, nearestHost) = ("the server", "the server", "the server")
    (proxy, mayExpectTLS) = (nil, false)
  }

  /// The peer to which the connection is opened.
  private var nearest: String { proxy.map { "the proxy \($0)" } ?? server }
  /// The peers of which one has not answered.
  private var responder: String { proxy.map { "\(server), or the proxy \($0)," } ?? server }
}

extension TransferPeers {
  /// Returns the failure of a request to the server.
  ///
  /// - Parameters:
  ///   - code: The code of the failure.
  ///   - problem: What went wrong.
  /// - Returns: The failure with the sentence and the detail of the problem.
  package func failure(_ code: DownloadFailure.Code, _ problem: TransferProblem) -> DownloadFailure
  {
    DownloadFailure(code, message(problem), detail: detail(problem))
  }

  private var hintOfTLS: String { mayExpectTLS ? "; it may expect https" : "" }

  /// Returns the sentence about a problem, without a full stop.
  private func message(_ problem: TransferProblem) -> String {
    let text = sentence(problem)
    // The proxy may be the cause of any failure.
    guard let proxy, !text.contains(proxy), problem != .unknownHost else { return text }
    return "\(text) (through the proxy \(proxy))"
  }

  private func detail(_ problem: TransferProblem) -> DownloadFailure.Detail? {
    switch problem {
    case .noAddress: .addressFamily
    case .unknownHost, .connectionRefused, .unreachable, .noTunnel, .noAnswerInTime, .noResponse,
      .other:
      proxy == nil ? nil : .proxy
    case .certificate(.otherHosts(let names)): names?.isEmpty == true ? nil : .otherHostName
    case .oldTLS(let minimum): minimum == .tls12 ? nil : .tlsVersion
    case .unpinned: .unpinnedKey
    case .certificate(.selfSigned), .certificate(.unknownIssuer), .certificate(.untrusted):
      .untrustedIssuer
    case .noTLS, .noHandshake: .noTLS
    case .noReply, .invalidResponse(.notHTTP):
      proxy == nil ? (mayExpectTLS ? .mayExpectTLS : nil) : .proxy
    default: nil
    }
  }

  private func sentence(_ problem: TransferProblem) -> String {
    switch problem {
    case .unknownHost:
      proxy == nil
        ? "there is no host '\(nearestHost)'"
        : "the host '\(nearestHost)' of the proxy does not exist"
    case .connectionRefused: "\(nearest) refused the connection"
    case .unreachable(let reason):
      "\(nearest) cannot be reached" + (reason.map { ": \($0)" } ?? "")
    case .noAddress(let family):
      "\(nearestHost) has no \(family == .ipv4 ? "IPv4" : "IPv6") address"
    case .noTunnel: "\(nearest) did not open a connection to the server"
    case .noAnswerInTime: "\(nearest) did not answer in time"
    case .silence(let time): "\(server) sent nothing for \(Self.seconds(time))"
    case .noResponse(let time): "\(responder) sent nothing for \(Self.seconds(time))"
    case .noReply:
      "\(responder) closed the connection without an answer\(hintOfTLS)"
    case .closed: "\(server) closed the connection before the end of the response"
    case .reset: "\(server) reset the connection"
    case .certificate(let problem): sentence(problem)
    case .noTLS: "\(server) does not speak TLS"
    case .noHandshake:
      "\(server) closed the connection during the TLS handshake; it may not speak TLS"
    case .oldTLS(.tls12): "\(server) offers no newer version of TLS than 1.1"
    case .oldTLS(.tls13): "\(server) does not offer TLS 1.3"
    case .unpinned(let key): "the key of \(server) is \(key.text), which is not a pinned one"
    case .insecure(let reason): "no secure connection to \(server): \(reason)"
    case .invalidResponse(let defect): sentence(defect)
    case .unsupportedURL(let reason): "the URL cannot be requested: \(reason)"
    case .shortage(let reason): "connecting to \(nearest): \(reason)"
    case .other(let reason): "\(server): \(reason)"
    }
  }

  private func sentence(_ defect: ResponseDefect) -> String {
    let answer = "the answer of \(server)"
    return switch defect {
    // The alert of a server that expects TLS is not HTTP.
    case .notHTTP: "the answer of \(responder) is not HTTP\(hintOfTLS)"
    case .version: "\(answer) has an unknown version of HTTP"
    case .field: "\(answer) has a malformed header field"
    case .longHeader: "\(answer) has a header that is too long"
    case .length: "\(answer) has an invalid Content-Length"
    case .chunk: "\(answer) has a malformed body"
    case .coding: "\(answer) has a body that cannot be decoded"
    case .other(let reason): "\(answer) is not valid HTTP: \(reason)"
    }
  }

  private func sentence(_ problem: CertificateProblem) -> String {
    let certificate = "the certificate of \(server)"
    switch problem {
    case .expired(let day):
      return "\(certificate) \(day.map { "expired on \($0)" } ?? "has expired")"
    case .notYetValid(let day):
      return "\(certificate) is \(day.map { "valid from \($0) on" } ?? "not valid yet")"
        + "; check the clock of this machine"
    case .otherHosts(nil): return "\(certificate) is for another host"
    case .otherHosts(let names?):
      let more = names.count > 3 ? " and \(names.count - 3) more" : ""
      let list = names.isEmpty ? "no host" : names.prefix(3).joined(separator: ", ") + more
      return "the certificate is for \(list), not for \(host)"
    case .selfSigned: return "\(certificate) is not trusted, because it is self-signed"
    case .unknownIssuer: return "\(certificate) is not trusted, because its issuer is unknown"
    case .untrusted: return "\(certificate) is not trusted"
    }
  }

  /// Such as `60 s`; with a fraction below a second.
  private static func seconds(_ time: Duration) -> String {
    let seconds = time / .seconds(1)
    return seconds < 1 ? "\(seconds) s" : "\(Int64(seconds.rounded())) s"
  }
}
