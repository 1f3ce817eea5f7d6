internal import DownloadStore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What a failed system call means for a download.
///
/// The one place that judges error numbers.
package enum SystemCallFailure: String, Sendable, Hashable, CaseIterable {
  /// The volume or the user's share of it is full.
  case diskFull
  /// The process or the system is short of descriptors, memory or buffers. The file and the server
  /// are not to blame, so that the call is made again later and nothing is counted.
  case outOfResources
  /// The file cannot be reached at the moment: opening it again may help.
  case fileUnavailable
  /// The same call would fail again.
  case permanent

  /// Classifies an error number.
  package init(errno code: Int32) {
    self =
      switch code {
      case ENOSPC, EDQUOT: .diskFull
      case EMFILE, ENFILE, ENOMEM, EAGAIN, ENOBUFS: .outOfResources
      case ESTALE, EBUSY, EINTR, ETIMEDOUT: .fileUnavailable
      default: .permanent
      }
  }
}

extension PartialFile.Failure {
  /// The failure as a download has it.
  var asDownloadFailure: DownloadFailure {
    if let refusal {
      let code: DownloadFailure.Code = refusal == .locked ? .fileInUse : .fileSystem
      return DownloadFailure(code, "\(operation): \(refusal)")
    }
    let text = "\(operation): \(unsafe String(cString: strerror(code)))"
    return switch SystemCallFailure(errno: code) {
    case .diskFull: DownloadFailure(.diskFull, "the disk is full")
    case .outOfResources: DownloadFailure(.outOfResources, text)
    case .fileUnavailable: DownloadFailure(.fileUnavailable, text)
    case .permanent: DownloadFailure(.fileSystem, text)
    }
  }
}
