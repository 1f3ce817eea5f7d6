import Foundation
import Simulation
import SystemInterface

/// Runs simulations, as ``SimulationOptions`` says.
@main
enum Simulate {
  static func main() {
    do throws(SimulationOptions.UsageError) {
      let options = try SimulationOptions(CommandLine.arguments.dropFirst())
      guard let seed = options.seed else {
        let first = options.first ?? .random(in: 0..<1 << 48)
        return explore(options.count, from: first, options.defects)
      }
      replay(seed, options.defects)
    } catch {
      try? FileHandle.standardError.write(contentsOf: Data((error.message + "\n").utf8))
      exit(64)
    }
  }

  private static func replay(_ seed: UInt64, _ defects: Set<Defect>) {
    do {
      let report = try Simulation.run(seed: seed, defects: defects) { print($0) }
      print("seed \(seed) holds, digest \(String(report.digest, radix: 16))")
    } catch {
      print("\(error)")
      exit(1)
    }
  }

  private static func explore(_ count: Int, from first: UInt64, _ defects: Set<Defect>) {
    let start = ContinuousClock.now
    let failures = Mutex(0)
    let counts = Mutex<[String: Int]>([:])
    DispatchQueue.concurrentPerform(iterations: count) { index in
      do {
        let report = try Simulation.run(seed: first &+ UInt64(index), defects: defects)
        counts.withLock { $0.merge(report.counts) { $0 + $1 } }
      } catch {
        // Print at the time of the failure; a run of ten thousand seeds takes long.
        say("\(error)")
        failures.withLock { $0 += 1 }
      }
    }
    let elapsed = start.duration(to: .now)
    let failed = failures.withLock { $0 }
    let kinds = counts.withLock { $0 }.sorted { $0.key < $1.key }
    say(kinds.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    let rate = Int(Double(count) / (elapsed / .seconds(60)))
    say("\(count) seeds from \(first), \(failed) failed, \(rate) seeds a minute")
    if failed > 0 { exit(1) }
  }

  /// Prints without buffering.
  private static func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
  }
}
