internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// The exit codes of aria2c, as its manual lists them.
enum Aria2ExitCode: Int32, Sendable {
  case done = 0
  case unknown = 1
  case timedOut = 2
  case notFound = 3
  case network = 6
  /// A signal ended the command while downloads were unfinished.
  case unfinished = 7
  /// The server cannot continue the file.
  case cannotResume = 8
  case diskFull = 9
  /// Another process downloads the same file.
  case sameFile = 11
  case fileExists = 13
  case fileIO = 17
  case nameResolution = 19
  case malformedMetalink = 20
  case badResponse = 22
  case tooManyRedirects = 23
  case authorization = 24
  case badOption = 28
  case serverBusy = 29
  case checksum = 32

  /// The code for the failure of a download.
  private init(_ failure: DownloadFailure, of record: DownloadRecord) {
    // Another file than the one with the digest, whether all its bytes came from one response or not.
    if failure.code == .entityChanged, record.expectedDigest != nil {
      self = .checksum
      return
    }
    self.init(failure)
  }

  /// The code for the failure of a download.
  init(_ failure: DownloadFailure) {
    self =
      switch failure.code {
      case .timedOut: .timedOut
      case .notFound: .notFound
      case .cannotConnect, .connectionLost: .network
      case .cannotFindHost: .nameResolution
      case .wrongLength, .entityChanged: .cannotResume
      case .diskFull: .diskFull
      case .fileInUse: .sameFile
      case .fileSystem, .fileUnavailable: failure.detail == .nameTaken ? .fileExists : .fileIO
      case .badResponse, .rejected, .unexpectedCoding: .badResponse
      case .badRedirect: .tooManyRedirects
      case .refused, .needsURL:
        // The statuses 403 and 407 are for aria2c responses that it did not expect.
        [nil, .proxyLogin].contains(failure.detail) ? .badResponse : .authorization
      case .serverBusy: .serverBusy
      case .digestMismatch, .pieceMismatch: .checksum
      case .insecure, .unsupportedURL, .quarantined, .interceptorFailed, .tooLarge, .outOfResources,
        .unknown:
        .unknown
      }
  }

  /// The code for the records of a command that has ended: that of the last failure.
  init(_ records: [DownloadRecord], stopped: Bool) {
    let open = records.filter { $0.state != .completed }
    if open.isEmpty {
      self = .done
    } else if stopped {
      self = .unfinished
    } else {
      let failures = open.compactMap { record in record.attempts.last.map { (record, $0) } }
        .sorted { $0.1.at < $1.1.at }
      self = failures.last.map { Self($0.1.failure, of: $0.0) } ?? .unknown
    }
  }

  /// The code for an error of the command itself.
  init(_ error: any Error) {
    if (error as? EngineError)?.code == .diskFull || (error as? StoreError)?.code == .diskFull {
      self = .diskFull
      return
    }
    self =
      switch ExitStatus(error) {
      case .done: .done
      case .usage: .badOption
      case .inputOutput, .cannotCreate, .permissionDenied: .fileIO
      case .engineRuns: .sameFile
      default: .unknown
      }
  }
}
