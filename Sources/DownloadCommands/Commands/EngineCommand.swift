internal import ArgumentParser

/// A command that runs an engine.
///
/// On Linux it runs in a worker process under a supervisor, because a server's response can crash
/// URLSession there.
protocol EngineCommand: AsyncParsableCommand {
  /// Whether a download that failed permanently in an earlier worker makes the exit code 1.
  var failsWhenSomethingFailed: Bool { get }
  var limits: EngineLimits { get }
  /// Whether the command runs an engine with these options.
  var runsEngine: Bool { get }
  /// Returns the variables that its worker receives.
  func workerEnvironment() throws -> [String: String]
}

extension EngineCommand {
  var failsWhenSomethingFailed: Bool { false }
  var runsEngine: Bool { true }
  func workerEnvironment() throws -> [String: String] { limits.client.environment }
}
