internal import DownloadStore

/// The result of a transfer, as it concerns the download.
enum TransferResult: Sendable, Hashable {
  /// All bytes are in the partial file; the last ones may not be synced yet.
  case complete
  /// The server has no newer version of the finished file.
  case notModified
  /// The attempt failed; `retryAfter` is the wait that the server asked for.
  case failed(DownloadFailure, retryAfter: Duration?)
  /// The bytes on disk are useless: the next attempt starts from the first byte.
  case startOver(DownloadFailure)
  /// The transfer was cancelled by the engine or the system, or because its record has changed.
  case cancelled

  /// Whether the result is a failed attempt.
  var isFailure: Bool {
    switch self {
    case .failed, .startOver: true
    case .complete, .notModified, .cancelled: false
    }
  }

  /// Whether the bytes on disk are useless.
  var dropsBytes: Bool {
    if case .startOver = self { true } else { false }
  }

  /// The failure of a transfer that has not completed its download.
  ///
  /// `nil` if it is complete.
  var failure: DownloadFailure? {
    switch self {
    case .failed(let failure, _), .startOver(let failure): failure
    // The system ended the transfer, or the user did in the system's settings.
    case .cancelled: .endedBySystem
    case .complete, .notModified: nil
    }
  }

  /// The wait that the server asked for.
  var retryAfter: Duration? {
    if case .failed(_, let retryAfter) = self { retryAfter } else { nil }
  }

  /// The result as it concerns the download.
  ///
  /// - Parameters:
  ///   - isEnding: Whether the engine was ending the transfer.
  ///   - hasFinding: Whether the sink or the engine had determined the result.
  /// - Returns: The result.
  func concerning(isEnding: Bool, hasFinding: Bool) -> Self {
    // An error after the engine ended the transfer is not a failure.
    if isEnding { return isFailure ? .cancelled : self }
    // The system ended the transfer, for example with its session. This counts as a failed attempt,
    // so that the number of retries is limited.
    return self == .cancelled && !hasFinding ? .failed(.endedBySystem, retryAfter: nil) : self
  }

  /// Combines the outcome of a task with the conclusion of its sink.
  ///
  /// - Parameters:
  ///   - outcome: The outcome that the transport reports.
  ///   - finding: The conclusion of the sink, which takes precedence; `nil` if it has none.
  ///   - position: The number of bytes of the entity in the partial file.
  ///   - total: The length of the entity; `nil` if it is unknown.
  init(
    _ outcome: TaskOutcome,
    finding: TransferResult?,
    position: Int64,
    total: Int64?
  ) {
    if let finding {
      self = finding
      return
    }
    switch outcome {
    case .cancelled:
      self = .cancelled
    case .failed(let failure):
      self = .failed(failure.reportedByTransport, retryAfter: nil)
    case .completed:
      if let total, position != total {
        self = .failed(
          DownloadFailure(.wrongLength, "the connection ended after \(position) of \(total) bytes"),
          retryAfter: nil
        )
      } else {
        self = .complete
      }
    }
  }
}

extension DownloadFailure {
  static let endedBySystem = Self(.connectionLost, "the system has ended the transfer")

  /// Attributes the failure to a shortage of descriptors if that is its likely cause.
  ///
  /// Transports cannot always tell: libcurl reports a socket that it cannot open as an unreachable
  /// host. Transfers that fail during a shortage are attributed to it even if the end of another
  /// transfer has freed some descriptors.
  func attributed(toShortage isShort: @autoclosure () -> Bool) -> Self {
    guard code.traits.contains(.maybeShortage), isShort() else { return self }
    return Self(.outOfResources, "too many open files in this process or system: \(message)")
  }

  /// The failure as the engine accepts it from a transport.
  ///
  /// The other codes follow from what the engine knows: the status, the file and the record.
  /// `diskFull`, for example, stops every start on a volume, and `needsURL` asks the user for
  /// another link.
  var reportedByTransport: DownloadFailure {
    code.traits.contains(.reportable) ? self : DownloadFailure(.unknown, message)
  }
}

extension DownloadRecord {
  /// The URL that the next attempt requests.
  package var source: String { SourceRotation(of: self).next }
}

extension DownloadFailure {
  /// Returns the failure to report for a download with bytes on disk.
  ///
  /// If a server refuses a file of which it delivered bytes before, the link has probably expired.
  func afterProgress(of record: DownloadRecord) -> Self {
    guard code == .refused, record.hasServerBytes else { return self }
    return Self(
      .needsURL,
      "\(message); the server delivered it before, so the link may have expired: set a new URL to "
        + "continue after \(record.received) bytes",
      detail: detail
    )
  }
}
