internal import DownloadStore

extension DownloadFailure {
  /// The exit status of aria2 for the failure, which its front ends translate.
  var aria2Code: Int {
    switch detail {
    case .nameTaken: return 13
    case .folderMissing: return 18
    default: break
    }
    switch code {
    case .timedOut: return 2
    case .notFound: return 3
    case .cannotConnect, .connectionLost: return 6
    case .entityChanged: return 8
    case .diskFull: return 9
    case .fileInUse: return 11
    case .fileUnavailable: return 15
    case .fileSystem: return 17
    case .cannotFindHost: return 19
    case .badResponse, .rejected, .wrongLength, .unexpectedCoding: return 22
    case .badRedirect: return 23
    case .refused, .needsURL: return 24
    case .serverBusy: return 29
    case .digestMismatch, .pieceMismatch: return 32
    case .insecure, .unsupportedURL, .quarantined, .interceptorFailed, .tooLarge, .outOfResources,
      .unknown:
      return 1
    }
  }
}
