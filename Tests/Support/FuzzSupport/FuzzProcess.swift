internal import Foundation
internal import TestSupport

/// Runs a fuzzer executable in a child process, for tests.
public enum FuzzProcess {
  /// Runs a fuzzer until it ends.
  ///
  /// - Parameters:
  ///   - name: The executable, which is searched for next to the test program.
  ///   - arguments: Its arguments.
  /// - Returns: The exit code and the standard output of the fuzzer.
  /// - Throws: A Foundation error if the fuzzer cannot be found or started.
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
        // Keeps the folder until the output has been read.
        withExtendedLifetime(folder) {
          continuation.resume(returning: (process.terminationStatus, text))
        }
      }
      do {
        try process.start()
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  /// Returns the URL of an executable in the folder of the test program or in a parent folder.
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
