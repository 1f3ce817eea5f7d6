internal import SystemInterface

/// The output of a command: data to standard output, messages to standard error.
package struct Output: Sendable {
  /// The output of the current command.
  @TaskLocal package static var current = Output(
    check: { try StandardDescriptors.requireOutput() },
    data: { try write($0, to: STDOUT_FILENO) },
    // A failure to write messages cannot be reported.
    messages: { try? write($0, to: STDERR_FILENO) }
  )

  private let check: @Sendable () throws -> Void
  private let data: @Sendable ([UInt8]) throws -> Void
  private let messages: @Sendable ([UInt8]) -> Void

  /// The program whose messages these are; `nil` for that of the process.
  private let ownProgram: Program?

  /// The program whose messages these are.
  package var program: Program { ownProgram ?? .ofProcess }

  /// Creates an output.
  ///
  /// - Parameters:
  ///   - program: The program whose messages these are; `nil` for that of the process.
  ///   - check: Throws an error if data that is written is lost.
  ///   - data: Writes data.
  ///   - messages: Writes messages.
  package init(
    program: Program? = nil,
    check: @escaping @Sendable () throws -> Void = {},
    data: @escaping @Sendable ([UInt8]) throws -> Void,
    messages: @escaping @Sendable ([UInt8]) -> Void
  ) {
    ownProgram = program
    self.check = check
    self.data = data
    self.messages = messages
  }

  /// Refuses to begin with work whose result is the output, if the output is lost.
  ///
  /// - Throws: ``CommandFailure`` with `inputOutput` if the caller has closed standard output.
  package func requireOpen() throws {
    try check()
  }

  /// Writes data.
  ///
  /// - Throws: ``ClosedPipe`` if the reader closed the pipe; ``CommandFailure`` with `inputOutput`.
  package func write(_ text: String) throws {
    try data(Array(text.utf8))
  }

  /// Writes binary data.
  ///
  /// - Throws: As ``write(_:)``.
  package func write(_ bytes: [UInt8]) throws {
    try data(bytes)
  }

  /// Writes a line of data.
  ///
  /// - Throws: As ``write(_:)``.
  package func line(_ text: String) throws {
    try write(text + "\n")
  }

  /// Writes the report of a command that has done its work.
  ///
  /// - Throws: As ``write(_:)``; a ``CommandFailure`` says that it is that of a report.
  package func report(_ text: String) throws {
    do {
      try write(text)
    } catch let failure as CommandFailure {
      var failure = failure
      failure.isOfReport = true
      throw failure
    }
  }

  /// Writes a message line to standard error, with control characters replaced.
  ///
  /// ``Program/redact`` removes the secrets of what it repeats.
  package func say(_ message: String) {
    let program = program
    messages(Array("\(program.name): \(TerminalText.safe(program.redact(message)))\n".utf8))
  }

  /// Writes text to standard error unchanged.
  package func draw(_ text: String) {
    messages(Array(text.utf8))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
    var written = 0
    while written < bytes.count {
      let count = SystemInterface.write(descriptor, bytes.span.extracting(written...))
      if count >= 0 {
        written += count
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, -1)
      } else if errno == EPIPE {
        throw ClosedPipe()
      } else if errno != EINTR {
        throw CommandFailure(.inputOutput, "cannot write the output: \(systemErrorText())")
      }
    }
  }
}

/// The reader closed our output pipe.
///
/// Not a failure.
package struct ClosedPipe: Error {
  /// Creates the error.
  package init() {}
}

/// The error of the last failed system call.
package enum SystemCall {
  /// The exit status for a file that cannot be opened.
  package static func status(_ code: Int32 = errno) -> ExitStatus {
    switch code {
    case EACCES, EPERM, EROFS: .permissionDenied
    case ENOENT: .notFound
    case EIO, ENOSPC, EDQUOT: .inputOutput
    default: .cannotCreate
    }
  }
}
