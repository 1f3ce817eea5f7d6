import Foundation
import TestSupport

extension BuiltProcess {
  /// Starts `dlstore` with both outputs appended to a file.
  convenience init(_ arguments: [String], output: String = "/dev/null") throws {
    try self.init(
      program: "dlstore",
      arguments,
      in: "/",
      // Not the configuration of the user who runs the tests.
      environment: ["DLSTORE_CONFIG": ""],
      output: output
    )
  }

  /// Runs `dlstore` until it ends, and returns its exit code.
  static func run(_ arguments: [String], output: String = "/dev/null") async throws -> Int32? {
    try await BuiltProcess(arguments, output: output).exitCode()
  }

  /// Waits until the process ends, and returns the peak of the memory that the process or a child
  /// of it has allocated, in bytes.
  ///
  /// Pages of mapped files do not count: most are of the program itself, whose debug build has 180 MB,
  /// and the kernel decides how many of them stay. It keeps no peak of the others, so they are looked
  /// at every few milliseconds.
  ///
  /// - Parameters:
  ///   - isFull: Returns whether the process does not need more memory than now.
  ///   - end: Lets the process end; called after a look since `isFull` has returned true.
  /// - Returns: The exit code, and the peak.
  /// - Throws: `CancellationError` if the test was cancelled, or an error of `isFull`.
  func exitCodeWatchingMemory(
    until isFull: () throws -> Bool,
    then end: () -> Void
  ) async throws -> (code: Int32?, peakBytes: Int) {
    var peak = 0
    while isRunning {
      let isLast = try isFull()
      let children = (try? Self.read("/proc/\(id)/task/\(id)/children")) ?? ""
      for process in [id] + children.split(separator: " ").compactMap({ pid_t($0) }) {
        peak = max(peak, Self.allocatedBytes(of: process))
      }
      if isLast { end() }
      try await Task.sleep(for: .milliseconds(5))
    }
    return (try await exitCode(), peak)
  }

  /// The running processes of the group: the tool and its worker.
  ///
  /// A process that has ended and was not waited for by its parent does not count.
  var members: [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { process in
      // The fields after the name in parentheses: state, parent, group.
      guard let text = try? Self.read("/proc/\(process)/stat"),
        let end = text.lastIndex(of: ")")
      else { return false }
      let fields = text[text.index(after: end)...].split(separator: " ")
      return fields.count > 2 && fields[0] != "Z" && pid_t(fields[2]) == id
    }
  }

  private static func allocatedBytes(of process: pid_t) -> Int {
    guard let text = try? read("/proc/\(process)/status"),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return 0 }
    return kilobytes * 1_024
  }

  private static func read(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }
}
