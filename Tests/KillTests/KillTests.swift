import DownloadStore
import FaultServer
import Foundation
import SystemInterface
import TestSupport
import TestTraits
import Testing

/// The number of kills, which `DLSTORE_KILLS` overrides.
private let kills = ProcessInfo.processInfo.environment["DLSTORE_KILLS"].flatMap(Int.init) ?? 100
/// The seed of all random choices.
///
/// `DLSTORE_KILL_SEED` repeats another run. The progress of a process at its kill still depends on
/// the machine.
private let seed =
  ProcessInfo.processInfo.environment["DLSTORE_KILL_SEED"].flatMap(UInt64.init)
  ?? .random(in: 0..<1 << 48)

/// Kills every kind of process with SIGKILL at any moment, with a server that also resets
/// connections and, if files have several, lies about ranges and changes files.
@Suite(.serialized, .timeLimit(.minutes(10 + kills / 15)))
struct KillTests {
  /// The processes of an engine to kill.
  private enum Victim: CaseIterable {
    case supervisor
    case worker
    case both
  }

  @Test(.requirements("SC13"), arguments: [1, 8])
  func `no kill loses a byte, refetches a checkpointed one or misreports progress`(
    connections: Int
  ) async throws {
    print("kills: \(kills), connections: \(connections), DLSTORE_KILL_SEED=\(seed)")
    let scenario = try KillScenario(connections: connections)
    var random = SplitMix64(seed: seed)
    var count = 0
    var counts: [String: Int] = [:]
    while count < kills {
      try scenario.keepBusy()
      let hasEngine = Int.random(in: 0..<3, using: &random) > 0
      let kind =
        hasEngine && Int.random(in: 0..<3, using: &random) == 0
        ? nil : KillCommand.Kind.allCases.randomElement(using: &random)
      let engine =
        hasEngine
        ? try BuiltProcess(scenario.engineArguments, output: scenario.log()) : nil
      if hasEngine {
        // Give the process time to run; the moment of the kill is random.
        let longest = kind == nil ? 1_700_000 : 700_000
        try await Task.sleep(for: .microseconds(Int.random(in: 30_000...longest, using: &random)))
      }
      if let kind, let command = try scenario.command(kind, using: &random) {
        let process = try BuiltProcess(
          ["--store", scenario.storePath] + command.arguments,
          output: scenario.log()
        )
        try await Task.sleep(for: .microseconds(Int.random(in: 0...150_000, using: &random)))
        process.send(SIGKILL)
        let code = try await process.exitCode()
        #expect(code == nil || code == 0, "\(command): \(process.output)")
        if code == nil { count += 1 }
        counts[code == nil ? kind.rawValue : "ended first", default: 0] += 1
        scenario.note(command, hasEnded: code != nil)
      }
      if let engine, let victim = Victim.allCases.randomElement(using: &random) {
        try await Task.sleep(for: .microseconds(Int.random(in: 0...300_000, using: &random)))
        try await kill(engine, victim)
        count += 1
        counts["\(victim)", default: 0] += 1
      }
      try await scenario.server.settle()
      try scenario.checkGuarantees(after: "kill \(count) of seed \(seed)")
      if Int.random(in: 0..<5, using: &random) == 0 { scenario.changeFile(using: &random) }
    }
    print("killed: \(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
    try await scenario.finish()
  }

  /// Kills processes of an engine, and expects all of them to end.
  private func kill(_ engine: BuiltProcess, _ victim: Victim) async throws {
    let worker = engine.members.first { $0 != engine.id }
    var code: Int32?
    switch (victim, worker) {
    case (.worker, let worker?):
      #expect(SystemInterface.kill(worker, SIGKILL) == 0)
      // A supervisor does not restart a worker that was killed.
      code = 1
    case (.supervisor, _), (.worker, nil): engine.send(SIGKILL)
    case (.both, _): engine.send(SIGKILL, toGroup: true)
    }
    #expect(try await engine.exitCode() == code, "the engine ended by itself: \(engine.output)")
    // A worker ends with its supervisor; otherwise the time limit fails the test.
    while !engine.members.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
  }
}
