internal import ArgumentParser

/// A command that transfers, and so runs under a supervisor where a server can crash the process.
protocol EngineCommand: AsyncParsableCommand {
  /// Whether the exit code is 1 when a download failed for good in a worker that is gone.
  var failsWhenSomethingFailed: Bool { get }
}

extension EngineCommand {
  var failsWhenSomethingFailed: Bool { false }
}
