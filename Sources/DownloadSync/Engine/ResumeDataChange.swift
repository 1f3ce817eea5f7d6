internal import DownloadStore
internal import Foundation

/// What becomes of a record's resume data when an attempt has ended.
enum ResumeDataChange: Sendable, Hashable {
  /// It stays: where a task leaves nothing, what was stored before is used.
  case none
  /// What the task has left takes its place.
  case store(Data)
  /// The task could not go on from it, and no other one will.
  case drop

  func apply(to record: inout DownloadRecord) {
    switch self {
    case .none: break
    case .store(let data): record.replaceResumeData(with: data)
    case .drop: record.replaceResumeData(with: nil)
    }
  }
}

extension DownloadEngine.ActiveTransfer {
  /// What becomes of the record's resume data after the transfer has failed.
  func resumeDataChange(after failure: DownloadFailure) -> ResumeDataChange {
    if let data = transfer.resumeData { return .store(data) }
    // Without a network nothing was tried.
    return usesResumeData && !failure.code.isOfNetwork && transfer.received == 0 ? .drop : .none
  }
}

extension DownloadFailure.Code {
  /// Whether the way to the server was the trouble.
  fileprivate var isOfNetwork: Bool {
    switch self {
    case .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .insecure, .outOfResources:
      true
    default: false
    }
  }
}
