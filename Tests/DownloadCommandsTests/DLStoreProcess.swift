import Foundation
import TestSupport
import Testing

/// The built `dlstore`, run as a separate process.
final class DLStoreProcess: Sendable {
  struct TimedOut: Error {
    var messages: String
  }

  private let folder: TemporaryFolder
  private let process: Process

  /// The program next to the test program.
  static var program: URL {
    get throws {
      let arguments = CommandLine.arguments
      var own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      if let index = arguments.firstIndex(of: "--test-bundle-path"), index + 1 < arguments.count {
        own = URL(filePath: arguments[index + 1])
      }
      var parent = own.deletingLastPathComponent()
      while parent.path.count > 1 {
        let program = parent.appending(path: "dlstore")
        if FileManager.default.isExecutableFile(atPath: program.path) { return program }
        parent.deleteLastPathComponent()
      }
      Issue.record("dlstore is missing next to \(own.path)")
      throw CocoaError(.fileNoSuchFile)
    }
  }

  /// Starts the program with its output in files or on a terminal.
  init(
    _ arguments: [String],
    store: String,
    in current: String,
    shell: String? = nil,
    environment additions: [String: String] = [:],
    terminal: FileHandle? = nil,
    input: FileHandle = .nullDevice
  ) throws {
    folder = try TemporaryFolder()
    process = Process()
    let program = try Self.program
    if let shell {
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", shell]
    } else {
      process.executableURL = program
      process.arguments = arguments
    }
    process.currentDirectoryURL = URL(filePath: current)
    var environment = ProcessInfo.processInfo.environment
    // Not the configuration of the user who runs the tests.
    environment["DLSTORE_CONFIG"] = ""
    environment["DLSTORE_STORE"] = store
    // A transfer that a test stalls must not fail because the machine is busy.
    environment["DLSTORE_TIMEOUT"] = "10m"
    environment.merge(additions) { $1 }
    let folders = [
      program.deletingLastPathComponent().path, environment["PATH"] ?? "/usr/bin:/bin",
    ]
    environment["PATH"] = folders.joined(separator: ":")
    process.environment = environment
    process.standardInput = input
    process.standardOutput = try FileHandle(
      forWritingTo: URL(filePath: try folder.makeFile("out", ""))
    )
    process.standardError = try FileHandle(
      forWritingTo: URL(filePath: try folder.makeFile("err", ""))
    )
    if let terminal {
      process.standardInput = terminal
      process.standardOutput = terminal
      process.standardError = terminal
    }
    try process.start()
  }

  /// Kills the rest of its process group, whose leader Foundation makes it.
  ///
  /// A failing test must not leave a supervisor that restarts its worker forever.
  deinit {
    kill(-id, SIGKILL)
  }

  /// Runs the program and waits until it exits.
  static func run(
    _ arguments: String...,
    store: String,
    in current: String = "/",
    shell: String? = nil
  ) async throws -> (status: Int32, output: String, messages: String) {
    let process = try DLStoreProcess(arguments, store: store, in: current, shell: shell)
    let status = try await process.status()
    return (status, process.output, process.messages)
  }

  var id: pid_t { process.processIdentifier }
  var isRunning: Bool { process.isRunning }
  var output: String { text("out") }
  var messages: String { text("err") }

  func send(_ signal: Int32) {
    kill(id, signal)
  }

  /// The exit code, or 128 plus the signal that ended the process.
  func status() async throws -> Int32 {
    try await wait { !process.isRunning }
    return process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
  }

  /// Waits until the messages contain a text.
  func message(_ text: String) async throws {
    try await wait { messages.contains(text) }
  }

  /// Waits until a condition holds.
  func wait(until condition: () -> Bool) async throws {
    let deadline = ContinuousClock.now.advanced(by: .seconds(300))
    while !condition() {
      guard ContinuousClock.now < deadline else {
        kill(-id, SIGKILL)
        throw TimedOut(messages: messages)
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private func text(_ name: String) -> String {
    (try? String(contentsOfFile: folder.path(name), encoding: .utf8)) ?? ""
  }
}

/// Whether a process exists and has not ended; its exit status may not have been read yet.
func isRunning(_ process: pid_t) -> Bool {
  guard kill(process, 0) == 0 else { return false }
  let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ") Z"
  return text.split(separator: ")").last?.hasPrefix(" Z") != true
}
