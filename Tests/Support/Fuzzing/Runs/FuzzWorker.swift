internal import Foundation

/// The worker process, which may crash.
struct FuzzWorker<F: Fuzzer> {
  let options: FuzzOptions
  let state: String

  /// Checks inputs until the time is up and the whole corpus was checked.
  ///
  /// - Returns: The exit code: 0, or 1 if a property is violated.
  func run() async throws -> Int32 {
    var run = try FuzzRun<F>(
      corpus: try options.corpusInputs(),
      seed: options.seed,
      skipping: options.skippedCount
    )
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(options.seconds))
    guard let file = FileHandle(forWritingAtPath: state) else { throw CocoaError(.fileNoSuchFile) }
    var count: UInt64 = 0
    var slowest = Duration.zero
    // Checks the whole corpus, even if the time is up.
    while clock.now < end || run.hasCorpusLeft {
      let input = run.next()
      count += 1
      try file.seek(toOffset: 0)
      try file.write(contentsOf: FuzzWorkerState(count: count, input: input).data)
      if count == 100, let fault = options.fault { fail(fault) }
      do {
        let begin = clock.now
        let isNew = try await run.check(input)
        slowest = max(slowest, clock.now - begin)
        if isNew, options.grows, let corpus = options.corpus {
          let name = FuzzInputName.name(of: input)
          try Data(input).write(to: URL(filePath: corpus).appending(path: name))
        }
      } catch {
        print("violation: \(error)")
        return 1
      }
    }
    let milliseconds = slowest / .milliseconds(1)
    print("outcomes \(run.outcomeCount), slowest \(milliseconds) ms, peak \(Self.peak)")
    return 0
  }

  private static var peak: String {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.map { $0.dropFirst(6).trimmingCharacters(in: .whitespaces) } ?? "unknown"
  }

  private func fail(_ fault: FuzzOptions.Fault) {
    switch fault {
    case .trap: preconditionFailure("deliberate trap")
    case .hang: while true { Thread.sleep(forTimeInterval: 1) }
    case .memory:
      var blocks: [[UInt8]] = []
      while true { blocks.append([UInt8](repeating: 1, count: 1 << 26)) }
    case .violation:
      print("violation: deliberate")
      exit(1)
    }
  }
}

/// File names of inputs, computed from their bytes (FNV-1a).
enum FuzzInputName {
  static func name(of bytes: [UInt8]) -> String {
    let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return String(hash, radix: 16)
  }
}
