internal import TestSupport

/// Runs a fuzzer in a child process, for tests.
public enum FuzzProcess {
  /// Runs a fuzzer until it ends.
  ///
  /// - Parameters:
  ///   - name: The name of the fuzzer; the program `fuzz` is searched for next to the test program.
  ///   - arguments: Its arguments.
  /// - Returns: The exit code and the standard output of the fuzzer.
  /// - Throws: A Foundation error if the program cannot be found or started.
  public static func run(
    _ name: String,
    _ arguments: [String]
  ) async throws -> (status: Int32, output: String) {
    let process = try BuiltProcess(program: "fuzz", [name] + arguments, in: "/")
    return (try await process.status(), process.output)
  }
}
