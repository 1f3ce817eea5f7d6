internal import DownloadStore
internal import Foundation

/// A change to a record's resume data.
enum ResumeDataChange: Sendable, Hashable {
  /// Keeps the stored resume data: the task has left none.
  case none
  /// Stores the resume data that the task has left.
  case store(Data)
  /// Drops the stored resume data: the task could not continue from it.
  case drop

  /// Translates the effect of a decision; `data` is the resume data that the task has left.
  init(_ effect: ReconcileEffects.OnResumeData, left data: Data?) {
    self =
      switch effect {
      case .keep: .none
      case .store: data.map(Self.store) ?? .none
      case .drop: .drop
      }
  }

  func apply(to record: inout DownloadRecord) {
    switch self {
    case .none: break
    case .store(let data): record.replaceResumeData(with: data)
    case .drop: record.replaceResumeData(with: nil)
    }
  }
}

extension ActiveTransfer {
  /// Returns the change after a failure of the transfer.
  func resumeDataChange(after failure: DownloadFailure) -> ResumeDataChange {
    if let data = transfer.resumeData { return .store(data) }
    // A failure to reach the server says nothing about the resume data.
    return usesResumeData && !failure.code.isOfNetwork && transfer.received == 0 ? .drop : .none
  }
}

extension DownloadFailure.Code {
  /// Whether the attempt may have failed before the server received the request.
  fileprivate var isOfNetwork: Bool {
    switch self {
    case .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .insecure, .outOfResources:
      true
    default: false
    }
  }
}
