internal import ArgumentParser
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore
internal import ResumeData

/// The exit code of a command.
///
/// The numbers are stable.
package enum ExitStatus: Int32, Sendable, Hashable, CaseIterable {
  /// Success.
  case done = 0
  /// The command ran, and a part of it failed.
  case failed = 1
  /// The command line is invalid.
  case usage = 64
  /// The store or a file is damaged.
  case damaged = 65
  /// The store or an input file does not exist.
  case notFound = 66
  /// No server could be reached.
  case unreachable = 69
  /// A file or a folder cannot be created.
  case cannotCreate = 73
  /// An I/O error occurred, or the disk is full.
  case inputOutput = 74
  /// Another engine is running on the store.
  case engineRuns = 75
  /// Permission denied.
  case permissionDenied = 77
  /// Stopped by SIGINT: 128 plus the signal's number.
  case interrupted = 130
  /// Stopped by SIGTERM: 128 plus the signal's number.
  case terminated = 143
}

/// The error of a command, with its exit status.
struct CommandFailure: Error {
  var status: ExitStatus
  /// `nil` if the failure has already been reported.
  var message: String?

  init(_ status: ExitStatus, _ message: String? = nil) {
    self.status = status
    self.message = message
  }
}

extension ExitStatus {
  /// The status for an error.
  ///
  /// The only place that maps error codes to exit codes.
  init(_ error: any Error) {
    switch error {
    case is ClosedPipe: self = .done
    case let failure as CommandFailure: self = failure.status
    case let error as StoreError: self.init(error.code)
    case let error as RecordStoreError: self.init(error.code)
    case let error as EngineError: self.init(error.code)
    case let error as ResumeDataError: self.init(error.code)
    case is ValidationError: self = .usage
    default: self = .failed
    }
  }

  /// The status for a download that failed.
  init(_ code: DownloadFailure.Code) {
    self = code.traits.contains(.unreachable) ? .unreachable : .failed
  }

  /// The status for an error of the object store.
  init(_ code: StoreError.Code) {
    switch code {
    case .notFound: self = .notFound
    case .cannotCreate, .alreadyExists: self = .cannotCreate
    case .permissionDenied: self = .permissionDenied
    case .damaged, .schemaMismatch, .tooNew, .invalidInput: self = .damaged
    case .mapFull, .keysExhausted, .diskFull, .inputOutput, .other: self = .inputOutput
    // Programming errors, and codes of later versions.
    case .duplicateKey, .keyChanged, .wouldDeadlock, .unknownModel: self = .failed
    default: self = .failed
    }
  }

  /// The status for an error of the download store.
  init(_ code: RecordStoreError.Code) {
    switch code {
    case .invalidURL, .invalidName, .invalidDigest, .invalidHeader: self = .usage
    case .unknownRecord, .ambiguousID, .nameTaken, .urlTaken, .busy: self = .failed
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
    case .diskFull: self = .inputOutput
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
