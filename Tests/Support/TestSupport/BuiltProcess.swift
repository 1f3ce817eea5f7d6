package import Foundation
internal import SystemInterface

/// A built program of the package, run as a separate process in a group of its own.
package final class BuiltProcess: Sendable {
  /// The error of a wait that took too long.
  package struct TimedOut: Error {
    package var messages: String
  }

  private let folder: TemporaryFolder
  private let process: Process
  private let files: (output: String, messages: String)

  /// Returns the path of a program next to the test program.
  package static func program(_ name: String) throws -> URL {
    let arguments = CommandLine.arguments
    var own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    if let index = arguments.firstIndex(of: "--test-bundle-path"), index + 1 < arguments.count {
      own = URL(filePath: arguments[index + 1])
    }
    var parent = own.deletingLastPathComponent()
    while parent.path.count > 1 {
      let program = parent.appending(path: name)
      if FileManager.default.isExecutableFile(atPath: program.path) { return program }
      parent.deleteLastPathComponent()
    }
    throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "\(own.path): no \(name)"])
  }

  /// Starts the program with its output in files or on a terminal.
  ///
  /// - Parameters:
  ///   - name: The name of the program, or the path of one that does not belong to the package.
  ///   - arguments: Its arguments.
  ///   - current: The current folder.
  ///   - shell: A command for the shell, which finds the program, instead of the arguments.
  ///   - additions: Variables of the environment.
  ///   - output: A file to which both outputs are appended; `nil` for two files of this process.
  ///   - terminal: The terminal; `nil` to write to files.
  ///   - input: The standard input.
  /// - Throws: A Foundation error if the program cannot be found or started.
  package init(
    program name: String,
    _ arguments: [String],
    in current: String,
    shell: String? = nil,
    environment additions: [String: String] = [:],
    output: String? = nil,
    terminal: FileHandle? = nil,
    input: FileHandle = .nullDevice
  ) throws {
    folder = try TemporaryFolder()
    process = Process()
    files = (output ?? folder.path("out"), output ?? folder.path("err"))
    let program = name.hasPrefix("/") ? URL(filePath: name) : try Self.program(name)
    if let shell {
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", shell]
    } else {
      process.executableURL = program
      process.arguments = arguments
    }
    process.currentDirectoryURL = URL(filePath: current)
    var environment = ProcessInfo.processInfo.environment
    environment.merge(additions) { $1 }
    let folders = [
      program.deletingLastPathComponent().path, environment["PATH"] ?? "/usr/bin:/bin",
    ]
    environment["PATH"] = folders.joined(separator: ":")
    process.environment = environment
    process.standardInput = input
    let handles = try [Self.appending(to: files.output), Self.appending(to: files.messages)]
    process.standardOutput = handles[0]
    process.standardError = handles[1]
    if let terminal {
      process.standardInput = terminal
      process.standardOutput = terminal
      process.standardError = terminal
    }
    // Foundation never releases a process with its handles, and many descriptors make it crash; see
    // `Process.start()`.
    defer { for handle in handles { try? handle.close() } }
    try process.start()
  }

  /// Kills the rest of its process group, whose leader Foundation makes it.
  ///
  /// A failing test must not leave a supervisor that restarts its worker forever.
  deinit {
    // A process that could not be started has the id 0, which stands for the group of the tests.
    if id > 0 { kill(-id, SIGKILL) }
  }

  package var id: pid_t { process.processIdentifier }
  package var isRunning: Bool { process.isRunning }
  package var output: String { Self.text(files.output) }
  package var messages: String { Self.text(files.messages) }

  /// Sends a signal to the process, or to its group.
  package func send(_ signal: Int32, toGroup: Bool = false) {
    kill(toGroup ? -id : id, signal)
  }

  /// Waits for the end of the process.
  ///
  /// - Parameter limit: The time after which the process is killed, because it hangs.
  /// - Returns: The exit code, or 128 plus the signal that ended the process.
  /// - Throws: ``TimedOut`` after the limit.
  package func status(within limit: Duration = hangLimit) async throws -> Int32 {
    try await wait(within: limit) { !process.isRunning }
    return process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
  }

  /// Waits for the end of the process.
  ///
  /// - Returns: The exit code; `nil` if a signal ended the process.
  /// - Throws: ``TimedOut`` if the process hangs.
  package func exitCode() async throws -> Int32? {
    let status = try await status()
    return process.terminationReason == .exit ? status : nil
  }

  /// Waits until the messages contain a text.
  package func message(_ text: String) async throws {
    try await wait { messages.contains(text) }
  }

  /// Waits until a condition holds.
  package func wait(
    within limit: Duration = hangLimit,
    until condition: () -> Bool
  ) async throws {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while !condition() {
      guard ContinuousClock.now < deadline else {
        kill(-id, SIGKILL)
        throw TimedOut(messages: messages)
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }

  private static func appending(to path: String) throws -> FileHandle {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }
}
