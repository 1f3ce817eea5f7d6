internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// The next step of a caller of aria2c, in the options of aria2c: a call has a store of its own, which no
/// other command of `dlstore` finds.
enum Aria2Advice {
  /// Returns the advice after a failed download, without a full stop.
  static func text(for failure: DownloadFailure) -> String {
    let again = "the same call tries again"
    if let advice = failure.detail.flatMap({ text(for: $0, again) }), failure.code != .needsURL {
      return advice
    }
    return switch failure.code {
    case .cannotFindHost: "check the spelling of the URL"
    case .timedOut: "--timeout sets the limit; \(again)"
    case .insecure: "ask the owner of the server to correct this"
    case .badRedirect: "pass the address of the file"
    case .unsupportedURL: "correct the URL"
    case .refused, .needsURL:
      "if the link has expired, a call with a new URL and the same -o continues the file"
    case .notFound: "check the URL"
    case .unexpectedCoding: "another server may send the plain file: a second URL is a mirror"
    case .digestMismatch:
      "its bytes are deleted; if another checksum is published, pass it with --checksum=TYPE=DIGEST; the "
        + "same call downloads the file again"
    case .diskFull: "free some space; the same call continues the file"
    case .fileSystem: "correct the folder, its permissions, or the name with -o; \(again)"
    case .rejected: "check the URL and --header; \(again)"
    case .cannotConnect, .connectionLost, .badResponse, .serverBusy, .wrongLength, .entityChanged,
      .pieceMismatch, .fileInUse, .outOfResources, .fileUnavailable, .quarantined, .tooLarge,
      .interceptorFailed, .unknown:
      again
    }
  }

  private static func text(for detail: DownloadFailure.Detail, _ again: String) -> String? {
    switch detail {
    case .proxy:
      "check --all-proxy, --http-proxy and --https-proxy, or http_proxy and https_proxy in the "
        + "environment; \(again)"
    case .login: "give --http-user and --http-passwd, or a login in ~/.netrc"
    case .loginRefused: "correct --http-user and --http-passwd, ~/.netrc or --header"
    case .loginKind:
      "only Basic and Bearer are supported: ask the owner of the server for one of them or for a link"
    case .redirectedLogin:
      "the login for the first server is not sent there: pass that URL, and its login"
    case .proxyLogin: "give --all-proxy-user and --all-proxy-passwd"
    case .untrustedIssuer: "if you trust it, name it with --ca-certificate=FILE"
    case .otherHostName: "if that is the same server, use the name of the certificate in the URL"
    case .tlsVersion: "--min-tls-version=TLSv1.2 accepts the older version"
    case .addressFamily: "to use its other addresses, omit --disable-ipv6 and --interface"
    case .noTLS: "if it is an http server, use http://"
    case .mayExpectTLS: "if it does, use https://; otherwise \(again)"
    case .nameTaken: "move that file away, or choose another name with -o"
    case .unpinnedKey, .folderMissing, .unknownRoot: nil
    }
  }

  /// Returns the message of an error of the call, with the advice, if there is any.
  static func message(of error: any Error) -> String {
    guard let error = error as? StoreError else { return Advice.message(of: error) }
    let advice =
      switch error.code {
      case .damaged, .otherFormat, .tooNew: "; --remove-control-file=true starts over"
      case .diskFull: "; free disk space and repeat the call"
      default: ""
      }
    return error.plainDescription + advice
  }
}
