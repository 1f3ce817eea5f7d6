import Dispatch
import Foundation
import Simulation
import Synchronization
import Testing

/// The engine under many histories, each of which follows from its seed.
@Suite(.timeLimit(.minutes(5)))
struct SimulationTests {
  /// Runs seeds on all processors, and gives what did not hold.
  private func failures(_ seeds: Range<UInt64>, _ defects: Set<Defect> = []) -> [any Error] {
    let failures = Mutex<[any Error]>([])
    DispatchQueue.concurrentPerform(iterations: seeds.count) { index in
      do {
        try Simulation.run(seed: seeds.lowerBound + UInt64(index), defects: defects)
      } catch {
        failures.withLock { $0.append(error) }
      }
    }
    return failures.withLock { $0 }
  }

  @Test func `the same seed has the same things happen`() throws {
    var digests: Set<UInt64> = []
    for seed in 0..<15 as Range<UInt64> {
      let report = try Simulation.run(seed: seed)
      #expect(try Simulation.run(seed: seed) == report)
      digests.insert(report.digest)
    }
    // And another one has others.
    #expect(digests.count == 15)
  }

  @Test func `what must hold does, for the same seeds each time`() {
    for failure in failures(0..<100) { Issue.record(failure) }
  }

  /// In order: a limit and a mirror; a record that gets the URL of another that waited; a file that
  /// gets another name before its record is complete; a record that gets the URL and the generation
  /// of another that is gone; a clock that is put back while a wait begins; a clock that is set back
  /// by hours while a retry waits; an empty file that has its name before a background task is taken
  /// over; a background task that delivers after its cancel; an error page in a temporary file; a file
  /// that changed while its download was paused and its rename was logged; a finished file that a
  /// power cut brings back, because its folder could not be synced when its record went; a copy of a
  /// temporary file that is of another version than the resume data.
  @Test(
    arguments: [
      3_851, 702_641, 251_751_789_761_210, 106_858_482_316_215, 106_858_482_285_325,
      73_903_433_119_415, 279_654_270_372_623, 279_654_270_374_829, 279_654_270_395_093,
      278_998_176_909_703, 181_405_083_849_992, 216_670_467_632_106,
    ] as [UInt64]
  )
  func `a seed that has failed holds`(seed: UInt64) throws {
    try Simulation.run(seed: seed)
  }

  @Test func `what must hold does, for seeds that nobody has tried`() {
    let first = UInt64.random(in: 1 << 32..<1 << 48)
    // `make simulate SEED=…` has a failure happen again.
    for failure in failures(first..<first + 100) { Issue.record(failure) }
  }

  @Test func `faults of every kind happen`() throws {
    var counts: [String: Int] = [:]
    for seed in 0..<200 as Range<UInt64> {
      counts.merge(try Simulation.run(seed: seed).counts) { $0 + $1 }
    }
    let faults = [
      "adopt", "break", "change", "cut power", "disk error", "foreign", "jump", "kill", "late",
      "purge orphans", "refuse", "replace",
      "room", "server", "stop", "tamper", "wish",
    ]
    for fault in faults { #expect(counts[fault, default: 0] > 0, "no \(fault)") }
  }

  @Test(arguments: Defect.allCases)
  func `what is broken on purpose is found`(defect: Defect) throws {
    let failure = try #require(
      (0..<200 as Range<UInt64>).lazy.compactMap { seed -> SimulationFailure? in
        do {
          try Simulation.run(seed: seed, defects: [defect])
          return nil
        } catch {
          return error as? SimulationFailure
        }
      }
      .first
    )
    #expect(defect.breaks.contains(failure.invariant), "\(failure)")
  }
}
