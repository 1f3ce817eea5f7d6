package import CommandLineSupport
package import DownloadStore
package import DownloadSync
package import ResumeData

extension RecordStoreError: ExitStatusProviding {
  package var exitStatus: ExitStatus { ExitStatus(code) }
}

extension EngineError: ExitStatusProviding {
  package var exitStatus: ExitStatus { ExitStatus(code) }
}

extension ResumeDataError: ExitStatusProviding {
  package var exitStatus: ExitStatus { ExitStatus(code) }
}

extension ExitStatus {
  /// The status for a download that failed.
  init(_ code: DownloadFailure.Code) {
    self = code.traits.contains(.unreachable) ? .unreachable : .failed
  }

  /// The status for an error of the download store.
  init(_ code: RecordStoreError.Code) {
    switch code {
    case .invalidURL, .invalidName, .invalidDigest, .invalidHeader, .invalidKey, .invalidTag:
      self = .usage
    case .unknownRecord, .ambiguousID, .nameTaken, .urlTaken, .keyTaken, .busy: self = .failed
    case .fileSystem: self = .inputOutput
    case .missingRoot, .invalidRecord: self = .damaged
    default: self = .failed
    }
  }

  /// The status for an error of the engine.
  init(_ code: EngineError.Code) {
    switch code {
    case .alreadyRunning: self = .engineRuns
    case .cannotLock: self = .cannotCreate
    case .diskFull, .outOfResources: self = .inputOutput
    default: self = .failed
    }
  }

  /// The status for resume data that cannot be read or repaired.
  init(_ code: ResumeDataError.Code) {
    switch code {
    case .notPropertyList, .malformed, .tooLarge, .notKeyedArchive, .notResumeData: self = .damaged
    case .invalidArgument: self = .usage
    case .notRepresentable, .notRepairable: self = .failed
    default: self = .failed
    }
  }
}
