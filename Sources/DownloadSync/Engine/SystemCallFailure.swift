internal import DownloadStore
internal import SystemInterface

extension PartialFile.Failure {
  /// Creates the failure of opening a file.
  init(_ refusal: LockedFile.Refusal, opening path: String) {
    operation = "opening \(path)"
    switch refusal {
    case .missing: code = ENOENT
    case .failed(let number): code = number
    case .locked: (code, self.refusal) = (EWOULDBLOCK, refusal)
    case .notOurs: (code, self.refusal) = (EPERM, refusal)
    }
  }
}

/// The meaning of a failed system call for a download.
///
/// The classification of error numbers is defined here only.
package enum SystemCallFailure: String, Sendable, Hashable, CaseIterable {
  /// The volume or the user's quota is full.
  case diskFull
  /// The process or the system is short of descriptors, memory or buffers.
  ///
  /// Neither the file nor the server is to blame: the attempt is deferred, and not counted.
  case outOfResources
  /// The file is temporarily unavailable; opening it again may succeed.
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

extension EngineError {
  /// Creates the error for a file or folder of a store that an engine needs.
  init(_ refusal: LockedFile.Refusal, using path: String) {
    guard case .failed(let code) = refusal else {
      self.init(.cannotLock, "\(path) cannot be used: \(refusal)")
      return
    }
    switch SystemCallFailure(errno: code) {
    case .diskFull: self.init(.diskFull, "\(path) cannot be written: the disk is full")
    case .outOfResources:
      self.init(.outOfResources, "\(path) cannot be opened: \(systemErrorText(code).lowercased())")
    case .fileUnavailable, .permanent:
      self.init(.cannotLock, "\(path) cannot be used: \(refusal)")
    }
  }
}

extension PartialFile.Failure {
  /// The failure of the download that this failure causes.
  var asDownloadFailure: DownloadFailure {
    if let interference { return interference.failure }
    if let refusal {
      let text = "\(operation): \(refusal)"
      return refusal == .locked
        ? DownloadFailure(.fileInUse, text)
        : DownloadFailure(.fileSystem, text + "; delete it or move it away")
    }
    let text = "\(operation): \(systemErrorText(code))"
    return switch SystemCallFailure(errno: code) {
    case .diskFull: DownloadFailure(.diskFull, "the disk is full")
    case .outOfResources: DownloadFailure(.outOfResources, text)
    case .fileUnavailable: DownloadFailure(.fileUnavailable, text)
    case .permanent: DownloadFailure(isRetried ? .fileUnavailable : .fileSystem, text)
    }
  }
}
