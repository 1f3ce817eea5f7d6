import Foundation
import TestSupport
import Testing

/// The built `dlstore` as a process of its own.
final class DLStoreProcess: Sendable {
  struct TimedOut: Error {
    var messages: String
  }

  private let folder: TemporaryFolder
  private let process: Process

  /// The program beside the test program.
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
      Issue.record("no dlstore beside \(own.path)")
      throw CocoaError(.fileNoSuchFile)
    }
  }

  /// Starts it with its output in files, or on a terminal.
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
    environment.merge(additions) { $1 }
    environment["DLSTORE_STORE"] = store
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
    try process.run()
  }

  /// Ends what is left of its process group, of which Foundation makes it the leader: a test that
  /// fails must not leave a supervisor that starts its worker again for ever.
  deinit {
    kill(-id, SIGKILL)
  }

  /// Runs it to its end.
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

  /// The exit code, or 128 and the signal that ended it.
  func status() async throws -> Int32 {
    try await wait { !process.isRunning }
    return process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
  }

  /// Waits until the messages have that text.
  func message(_ text: String) async throws {
    try await wait { messages.contains(text) }
  }

  /// Waits until something is so.
  func wait(until condition: () -> Bool) async throws {
    let deadline = ContinuousClock.now.advanced(by: .seconds(60))
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
