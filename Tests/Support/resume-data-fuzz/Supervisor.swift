import Foundation

/// Starts workers one after another, and keeps what ends them.
struct Supervisor {
  let options: Options

  /// In KiB; a worker needs a small part of it.
  private static let memoryLimit = 1_048_576

  /// Runs until the time is up.
  ///
  /// - Returns: The exit code: 0, or 1 when something was found.
  func run() throws -> Int32 {
    let state = FileManager.default.temporaryDirectory
      .appending(path: "resume-data-fuzz-\(UUID().uuidString)").path
    guard FileManager.default.createFile(atPath: state, contents: nil) else {
      throw CocoaError(.fileWriteUnknown)
    }
    defer { try? FileManager.default.removeItem(atPath: state) }
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(options.seconds))
    var seed = options.seed
    var count: UInt64 = 0
    var found = 0
    print("seed \(seed)")
    while clock.now < end {
      try Data().write(to: URL(filePath: state))
      let left = end - clock.now
      let failure = try runWorker(seed: seed, for: left, state: state)
      let last = WorkerState(ofFile: state)
      count += last?.count ?? 0
      if let failure {
        found += 1
        try keep(last?.input ?? [], failure)
        if options.fault != nil { break }
      }
      seed &+= 1
    }
    print("\(count) inputs, \(found) found")
    return found == 0 ? 0 : 1
  }

  /// - Returns: How the worker failed, if it did.
  private func runWorker(seed: UInt64, for time: Duration, state: String) throws -> String? {
    let worker = Process()
    worker.executableURL = URL(filePath: "/bin/sh")
    let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    var arguments = [
      CommandLine.arguments[0], "--state", state, "--seed", String(seed), "--seconds",
      String(seconds),
    ]
    if let corpus = options.corpus { arguments += ["--corpus", corpus] }
    if let fault = options.fault { arguments += ["--fault", fault.rawValue] }
    if options.grows { arguments.append("--grow") }
    // The limit is missing where systems do not have it.
    let limited = "ulimit -v \(Self.memoryLimit) 2>/dev/null; exec \"$@\""
    worker.arguments = ["-c", limited, "sh"] + arguments
    // A worker that traps is to end at once.
    worker.environment = ProcessInfo.processInfo.environment
      .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try worker.run()
    let clock = ContinuousClock()
    var lastCount: UInt64 = 0
    var lastChange = clock.now
    while worker.isRunning {
      Thread.sleep(forTimeInterval: 0.05)
      let count = WorkerState(ofFile: state)?.count ?? lastCount
      if count != lastCount {
        lastCount = count
        lastChange = clock.now
      } else if clock.now - lastChange > .seconds(options.hangSeconds) {
        kill(worker.processIdentifier, SIGKILL)
        worker.waitUntilExit()
        return "hangs"
      }
    }
    switch (worker.terminationReason, worker.terminationStatus) {
    case (.exit, 0): return nil
    case (.exit, let code): return "exit code \(code)"
    case (.uncaughtSignal, let signal): return "signal \(signal)"
    @unknown default: return "an unknown end"
    }
  }

  /// Saves and prints an input.
  private func keep(_ input: [UInt8], _ failure: String) throws {
    try FileManager.default.createDirectory(
      atPath: options.crashes,
      withIntermediateDirectories: true
    )
    let file = URL(filePath: options.crashes).appending(path: "crash-\(Digest.name(of: input))")
    try Data(input).write(to: file)
    print("\(failure): \(file.path), \(input.count) bytes, in base 64:")
    print(Data(input).base64EncodedString())
  }
}
