internal import Foundation
internal import TestSupport

/// A built fuzzer as a process of its own, for tests.
public enum FuzzProcess {
  /// Runs a fuzzer until it ends.
  ///
  /// - Parameters:
  ///   - name: The executable, which is looked for beside the test program.
  ///   - arguments: Its arguments.
  /// - Returns: The exit code, and what the fuzzer printed.
  /// - Throws: An error of Foundation when the fuzzer cannot be started.
  public static func run(
    _ name: String,
    _ arguments: [String]
  ) async throws -> (status: Int32, output: String) {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = try program(name)
    process.arguments = arguments
    let output = try folder.makeFile("output")
    process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
    process.standardError = FileHandle.nullDevice
    return try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { process in
        let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        // The folder is needed until here.
        withExtendedLifetime(folder) {
          continuation.resume(returning: (process.terminationStatus, text))
        }
      }
      do {
        try process.run()
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  /// The program beside the test program.
  private static func program(_ name: String) throws -> URL {
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
    throw CocoaError(.fileNoSuchFile)
  }
}
