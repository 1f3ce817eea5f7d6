internal import Foundation

/// Starts one worker after another, and saves the inputs that make them fail.
struct FuzzSupervisor<F: Fuzzer> {
  let options: FuzzOptions

  /// Runs workers until the time is up.
  ///
  /// - Returns: The exit code: 0, or 1 if an input failed.
  func run() throws -> Int32 {
    let state = FileManager.default.temporaryDirectory
      .appending(path: "\(F.name)-\(UUID().uuidString)").path
    guard FileManager.default.createFile(atPath: state, contents: nil) else {
      throw CocoaError(.fileWriteUnknown)
    }
    defer { try? FileManager.default.removeItem(atPath: state) }
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(options.seconds))
    let corpusCount = try options.corpusInputs().count
    var seed = options.seed
    var count = 0
    var exits = 0
    var found = 0
    print("seed \(seed)")
    // At least one worker, however late it starts: it checks the whole corpus.
    repeat {
      try Data().write(to: URL(filePath: state))
      let skipped = min(count, corpusCount)
      let outcome = try runWorker(
        seed: seed,
        skipping: skipped,
        for: end - clock.now,
        state: state
      )
      let last = FuzzWorkerState(ofFile: state)
      count += Int(clamping: last?.count ?? 0)
      switch outcome {
      case .timeUp: break
      case .accepted: exits += 1
      case .failure(let failure):
        found += 1
        try save(last?.input ?? [], failure)
      }
      if found > 0, options.fault != nil { break }
      seed &+= 1
    } while clock.now < end
    if exits > 0 { print("\(exits) workers ended with an accepted exit code") }
    print("\(count) inputs, \(found) found")
    return found == 0 ? 0 : 1
  }

  /// The way in which a worker ended.
  private enum Outcome {
    case timeUp
    case accepted
    case failure(String)
  }

  private func runWorker(
    seed: UInt64,
    skipping skipped: Int,
    for time: Duration,
    state: String
  ) throws -> Outcome {
    let worker = Process()
    worker.executableURL = URL(filePath: "/bin/sh")
    let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    var arguments = [
      CommandLine.arguments[0], F.name, "--state", state, "--seed", String(seed), "--seconds",
      String(seconds), "--skip", String(skipped),
    ]
    if let corpus = options.corpus { arguments += ["--corpus", corpus] }
    if let fault = options.fault { arguments += ["--fault", fault.rawValue] }
    if options.grows { arguments.append("--grow") }
    // Ignores errors, because not every system supports this limit.
    let limit = F.memoryLimit.map { "ulimit -v \($0) 2>/dev/null; " } ?? ""
    worker.arguments = ["-c", limit + "exec \"$@\"", "sh"] + arguments
    // Without a backtrace, a worker that traps ends immediately.
    worker.environment = ProcessInfo.processInfo.environment
      .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try worker.run()
    var watch = HangWatch(limit: .seconds(options.hangSeconds), at: .now)
    var count: UInt64 = 0
    while worker.isRunning {
      Thread.sleep(forTimeInterval: 0.05)
      count = FuzzWorkerState(ofFile: state)?.count ?? count
      let time = HangWatch.processorTime(of: worker.processIdentifier)
      if watch.hangs(count: count, processorTime: time, at: .now) {
        kill(worker.processIdentifier, SIGKILL)
        worker.waitUntilExit()
        return .failure("hangs")
      }
    }
    switch (worker.terminationReason, worker.terminationStatus) {
    case (.exit, 0): return .timeUp
    case (.exit, let code) where F.acceptedExitCodes.contains(code): return .accepted
    case (.exit, let code): return .failure("exit code \(code)")
    case (.uncaughtSignal, let signal): return .failure("signal \(signal)")
    @unknown default: return .failure("unknown termination")
    }
  }

  /// Saves an input to a file and prints it.
  private func save(_ input: [UInt8], _ failure: String) throws {
    try FileManager.default.createDirectory(
      atPath: options.crashes,
      withIntermediateDirectories: true
    )
    let name = "crash-\(FuzzInputName.name(of: input))"
    let file = URL(filePath: options.crashes).appending(path: name)
    try Data(input).write(to: file)
    print("\(failure): \(file.path), \(input.count) bytes, in base 64:")
    print(Data(input).base64EncodedString())
  }
}
