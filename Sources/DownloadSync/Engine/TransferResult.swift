internal import DownloadStore

/// How one transfer ended, in terms of the download and not of the network.
enum TransferResult: Sendable, Hashable {
  /// All bytes are in the partial file; the last ones may not be synced yet.
  case complete
  /// It broke, or the server refused.
  case failed(DownloadFailure, retryAfter: Duration?)
  /// What is on disk is of no use: begin again at the first byte.
  case startOver(DownloadFailure)
  /// Somebody asked for the end.
  case cancelled

  /// Whether it is an attempt that failed.
  var isFailure: Bool {
    switch self {
    case .failed, .startOver: true
    case .complete, .cancelled: false
    }
  }

  /// What the transport's outcome means, given what the sink has found.
  ///
  /// - Parameters:
  ///   - outcome: What the transport says.
  ///   - finding: What the sink concluded itself, if anything; it then cancelled the task.
  ///   - position: How many bytes of the entity are written.
  ///   - total: How many there are, if a server said so.
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
      self = .failed(
        DownloadFailure(DownloadFailure.Code(failure.code), failure.message),
        retryAfter: nil
      )
    case .completed:
      if let total, position != total {
        self = .failed(
          DownloadFailure(.wrongLength, "the body ended after \(position) of \(total) bytes"),
          retryAfter: nil
        )
      } else {
        self = .complete
      }
    }
  }
}

extension DownloadFailure.Code {
  init(_ code: TaskFailure.Code) {
    self =
      switch code {
      case .timedOut: .timedOut
      case .cannotConnect: .cannotConnect
      case .cannotFindHost: .cannotFindHost
      case .connectionLost: .connectionLost
      case .insecure: .insecure
      case .badResponse: .badResponse
      case .badRedirect: .badRedirect
      case .unsupportedURL: .unsupportedURL
      case .outOfResources: .outOfResources
      case .unknown: .unknown
      }
  }
}
