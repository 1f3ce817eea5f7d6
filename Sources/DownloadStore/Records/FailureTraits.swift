extension DownloadFailure.Code {
  /// The properties of a failure code, on which every decision about a failure depends.
  package struct Traits: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The same request may succeed later.
    package static let retryable = Self(rawValue: 1 << 0)
    /// The server refused the URL, as it does when a signed link has expired.
    package static let refusal = Self(rawValue: 1 << 1)
    /// The response has a status that is neither a success nor a usable redirect.
    package static let status = Self(rawValue: 1 << 2)
    /// The cause is on this machine, so that another server would not help.
    package static let local = Self(rawValue: 1 << 3)
    /// This machine lacks disk space, descriptors or memory: the attempt is deferred and not counted.
    package static let shortage = Self(rawValue: 1 << 4)
    /// The connection failed, and not the request.
    package static let connection = Self(rawValue: 1 << 5)
    /// The attempt may have failed before the server received the request.
    package static let beforeRequest = Self(rawValue: 1 << 6)
    /// No server was reached: the exit status 69.
    package static let unreachable = Self(rawValue: 1 << 7)
    /// Other connections of the download would fail, too.
    package static let file = Self(rawValue: 1 << 8)
    /// The server may be asked for ranges again.
    package static let rangesStay = Self(rawValue: 1 << 9)
    /// A transport may report the code; the others follow from what the engine knows.
    package static let reportable = Self(rawValue: 1 << 10)
    /// A shortage of descriptors may be the cause, which transports cannot always tell.
    package static let maybeShortage = Self(rawValue: 1 << 11)

    /// The names, in the order of the table.
    package static let names: [(trait: Self, name: String)] = [
      (.retryable, "retried"), (.refusal, "refuses the URL"), (.status, "status"),
      (.local, "this machine"), (.shortage, "deferred"), (.connection, "connection"),
      (.beforeRequest, "before the request"), (.unreachable, "exit 69"), (.file, "all connections"),
      (.rangesStay, "ranges stay"), (.reportable, "by transports"),
      (.maybeShortage, "may be a shortage"),
    ]
  }

  /// The properties of the code.
  ///
  /// The only table of failure codes; docs/state-machine.md is written from it.
  package var traits: Traits {
    switch self {
    case .timedOut, .connectionLost:
      [.retryable, .connection, .beforeRequest, .rangesStay, .reportable]
    case .cannotConnect, .cannotFindHost:
      [
        .retryable, .connection, .beforeRequest, .unreachable, .rangesStay, .reportable,
        .maybeShortage,
      ]
    case .insecure: [.beforeRequest, .reportable]
    case .badResponse: [.retryable, .reportable]
    case .badRedirect: [.status, .reportable]
    case .unsupportedURL: [.reportable]
    case .refused, .notFound: [.refusal, .status, .rangesStay]
    case .needsURL: [.refusal]
    case .rejected: [.status, .rangesStay]
    case .serverBusy: [.retryable, .status, .rangesStay]
    case .wrongLength: [.retryable, .connection, .rangesStay]
    case .entityChanged: [.retryable]
    case .unexpectedCoding, .interceptorFailed: []
    case .digestMismatch: [.file]
    case .pieceMismatch: [.retryable, .file]
    case .diskFull: [.local, .shortage, .file]
    case .fileSystem, .quarantined, .tooLarge: [.local, .file]
    case .fileInUse, .fileUnavailable: [.retryable, .local, .file]
    case .outOfResources:
      [.retryable, .local, .shortage, .connection, .beforeRequest, .rangesStay, .reportable]
    case .unknown: [.retryable, .connection, .rangesStay, .reportable, .maybeShortage]
    }
  }

  /// Whether the same request may succeed later.
  public var isRetryable: Bool { traits.contains(.retryable) }

  /// Whether the server refused the URL, as it does when a signed link has expired.
  package var isRefusal: Bool { traits.contains(.refusal) }
}
