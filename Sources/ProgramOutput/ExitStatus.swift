package import ObjectStore

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
  /// No server could be reached, or this machine lacks the address from which it is to be.
  case unreachable = 69
  /// The worker process crashed again and again, so a service manager must not start it again.
  case crashed = 70
  /// A file or a folder cannot be created.
  case cannotCreate = 73
  /// An I/O error occurred, or the disk is full.
  case inputOutput = 74
  /// Another engine is running on the store.
  case engineRuns = 75
  /// Permission denied.
  case permissionDenied = 77
  /// Stopped by SIGHUP: 128 plus the signal's number.
  case hungUp = 129
  /// Stopped by SIGINT: 128 plus the signal's number.
  case interrupted = 130
  /// Stopped by SIGTERM: 128 plus the signal's number.
  case terminated = 143
}

/// An error that determines the exit status of a command.
package protocol ExitStatusProviding: Error {
  /// The status of a command that fails with the error.
  var exitStatus: ExitStatus { get }
}

/// The error of a command, with its exit status.
package struct CommandFailure: Error {
  package var status: ExitStatus
  /// `nil` if the failure has already been reported.
  package var message: String?
  /// Whether the failure is that of the report of a command, which has done its work.
  package var isOfReport = false

  package init(_ status: ExitStatus, _ message: String? = nil) {
    self.status = status
    self.message = message
  }
}

extension ExitStatus {
  /// The status for an error.
  ///
  /// Errors of modules that this one does not import conform to ``ExitStatusProviding``.
  package init(_ error: any Error) {
    switch error {
    case is ClosedPipe: self = .done
    case let failure as CommandFailure: self = failure.status
    case let error as StoreError: self.init(error.code)
    case let error as any ExitStatusProviding: self = error.exitStatus
    default: self = .failed
    }
  }

  /// The status for an error of the object store.
  package init(_ code: StoreError.Code) {
    switch code {
    case .notFound: self = .notFound
    case .cannotCreate, .alreadyExists: self = .cannotCreate
    case .permissionDenied: self = .permissionDenied
    case .damaged, .otherFormat, .schemaMismatch, .tooNew, .invalidInput: self = .damaged
    case .mapFull, .keysExhausted, .diskFull, .inputOutput, .replaced, .other: self = .inputOutput
    // Programming errors, and codes of later versions.
    case .duplicateKey, .keyChanged, .wouldDeadlock, .unknownModel: self = .failed
    default: self = .failed
    }
  }
}
