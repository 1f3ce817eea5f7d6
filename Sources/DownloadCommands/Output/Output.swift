#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Where a command writes: data to standard output, messages to standard error.
struct Output: Sendable {
  /// The output of the command that runs.
  @TaskLocal static var current = Output(
    data: { try write($0, to: STDOUT_FILENO) },
    // Nobody is left to tell that messages cannot be written.
    messages: { try? write($0, to: STDERR_FILENO) }
  )

  private let data: @Sendable ([UInt8]) throws -> Void
  private let messages: @Sendable ([UInt8]) -> Void

  init(
    data: @escaping @Sendable ([UInt8]) throws -> Void,
    messages: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.data = data
    self.messages = messages
  }

  /// Writes data.
  ///
  /// - Throws: ``ClosedPipe`` when the reader has left; ``CommandFailure`` with `inputOutput`.
  func write(_ text: String) throws {
    try data(Array(text.utf8))
  }

  /// Writes data that is no text.
  ///
  /// - Throws: As ``write(_:)``.
  func write(_ bytes: [UInt8]) throws {
    try data(bytes)
  }

  /// Writes a line of data.
  ///
  /// - Throws: As ``write(_:)``.
  func line(_ text: String) throws {
    try write(text + "\n")
  }

  /// Writes the report of a change that is made already.
  ///
  /// - Throws: As ``write(_:)``, with a message that the change is made.
  func report(_ text: String) throws {
    do {
      try write(text)
    } catch let failure as CommandFailure {
      let reason = failure.message ?? "the output cannot be written"
      throw CommandFailure(failure.status, "what was asked for is done, but \(reason)")
    }
  }

  /// Says something to the person at the terminal.
  func say(_ message: String) {
    messages(Array("dlstore: \(TerminalText.safe(message))\n".utf8))
  }

  /// Writes to standard error as it is.
  func draw(_ text: String) {
    messages(Array(text.utf8))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
        #if canImport(Darwin)
          return unsafe Darwin.write(descriptor, rest.baseAddress, rest.count)
        #elseif canImport(Musl)
          return unsafe Musl.write(descriptor, rest.baseAddress, rest.count)
        #else
          return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
        #endif
      }
      if count >= 0 {
        written += count
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
      } else if errno == EPIPE {
        throw ClosedPipe()
      } else if errno != EINTR {
        throw CommandFailure(.inputOutput, "the output cannot be written: \(SystemCall.reason())")
      }
    }
  }
}

/// The reader of our output has left, which is no failure.
struct ClosedPipe: Error {}

/// What the operating system says of the call that failed last.
enum SystemCall {
  static func reason(_ code: Int32 = errno) -> String {
    unsafe String(cString: strerror(code))
  }

  /// The status for a file that cannot be used.
  static func status(_ code: Int32 = errno) -> ExitStatus {
    switch code {
    case EACCES, EPERM, EROFS: .permissionDenied
    case ENOENT: .notFound
    case EIO, ENOSPC, EDQUOT: .inputOutput
    default: .cannotCreate
    }
  }
}
