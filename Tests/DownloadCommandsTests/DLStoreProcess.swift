import Foundation
import TestSupport
import Testing

/// The built `dlstore`, run as a separate process.
typealias DLStoreProcess = BuiltProcess

extension BuiltProcess {
  /// The program next to the test program.
  static var program: URL {
    get throws { try program("dlstore") }
  }

  /// Starts the program with its output in files or on a terminal.
  convenience init(
    _ arguments: [String],
    store: String,
    in current: String,
    shell: String? = nil,
    environment additions: [String: String] = [:],
    terminal: FileHandle? = nil,
    input: FileHandle = .nullDevice
  ) throws {
    let environment = [
      // Not the configuration of the user who runs the tests.
      "DLSTORE_CONFIG": "", "DLSTORE_STORE": store,
      // A transfer that a test stalls must neither fail nor let another one go first because the
      // machine is busy.
      "DLSTORE_TIMEOUT": "10m", "DLSTORE_LOWEST_SPEED_TIME": "1h",
    ]
    try self.init(
      program: "dlstore",
      arguments,
      in: current,
      shell: shell,
      environment: environment.merging(additions) { $1 },
      terminal: terminal,
      input: input
    )
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
}

/// Whether a process exists and has not ended; its exit status may not have been read yet.
func isRunning(_ process: pid_t) -> Bool {
  guard kill(process, 0) == 0 else { return false }
  let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ") Z"
  return text.split(separator: ")").last?.hasPrefix(" Z") != true
}
