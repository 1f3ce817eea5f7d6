import Foundation
import TestSupport
import Testing

#if os(Linux)
  /// The number of power cuts, which `DLSTORE_POWER_CUTS` overrides.
  private let cuts =
    ProcessInfo.processInfo.environment["DLSTORE_POWER_CUTS"].flatMap(Int.init) ?? 200
  /// The seed of all random choices.
  ///
  /// `DLSTORE_POWER_CUT_SEED` repeats another run.
  private let seed =
    ProcessInfo.processInfo.environment["DLSTORE_POWER_CUT_SEED"].flatMap(UInt64.init)
    ?? .random(in: 0..<1 << 48)

  /// Power cuts after any system call of a recorded `dlstore` session.
  @Suite(.serialized, .timeLimit(.minutes(5 + cuts / 20)))
  struct PowerCutTests {
    /// Recorded once: the tests differ only in the behavior of the disk.
    private static let recorded = Task { try await RecordedRun() }

    @Test func `a recording contains every change of every file`() async throws {
      let run = try await Self.recorded.value
      var disk = RecordedDisk()
      for call in run.calls { disk.apply(call) }
      var whole = disk.whole
      whole.folders.remove(run.diskPath)
      #expect(whole.folders == run.end.folders)
      #expect(whole.files.keys.sorted() == run.end.files.keys.sorted())
      for (path, file) in run.end.files {
        #expect(whole.files[path]?.inode == file.inode, "\(path)")
        #expect(whole.files[path]?.bytes == file.bytes, "\(path)")
        #expect(whole.files[path]?.modified == file.modified, "\(path)")
      }
    }

    @Test func `a power cut at any system call leaves a valid store and complete files`()
      async throws
    {
      let run = try await Self.recorded.value
      print("power cuts: \(cuts) in \(run.calls.count) calls, DLSTORE_POWER_CUT_SEED=\(seed)")
      for problem in try await problems(in: run, count: cuts) {
        Issue.record("seed \(seed): \(problem)")
      }
    }

    @Test func `a power cut while a file is repaired or adopted leaves counted bytes on the disk`()
      async throws
    {
      let run = try await Self.recorded.value
      #expect(run.copies.count == 2 && run.copies.allSatisfy { $0.count > 10 })
      try await expectNoProblems(of: run, in: run.copies, times: 3)
    }

    @Test func `a power cut while a version replaces another leaves a whole one and those kept`()
      async throws
    {
      let run = try await Self.recorded.value
      #expect(run.replacements.count == 3 && run.replacements.allSatisfy { $0.count > 10 })
      let names = run.end.files.keys.filter { $0.contains("/elsewhere/kept") }
      #expect(names.sorted() == ["", ".~2~", ".~3~"].map { "\(run.diskPath)/elsewhere/kept\($0)" })
      try await expectNoProblems(of: run, in: run.replacements, times: 1)
    }

    /// Cuts the power at each call of some commands, several times: a cut keeps all unsynced bytes, none,
    /// or a part of them.
    private func expectNoProblems(
      of run: RecordedRun,
      in commands: [Range<Int>],
      times: Int
    ) async throws {
      let moments = commands.flatMap { range in
        (range.lowerBound...range.upperBound).flatMap { Array(repeating: $0, count: times) }
      }
      let problems = try await problems(in: run, at: moments)
      for problem in problems.prefix(9) { Issue.record("seed \(seed): \(problem)") }
    }

    /// Verifies that the check can fail.
    @Test(arguments: RecordedDisk.Defect.allCases)
    func `a disk that ignores one kind of sync is detected`(
      _ defect: RecordedDisk.Defect
    ) async throws {
      let run = try await Self.recorded.value
      let problems = try await problems(in: run, count: 100, defect: defect)
      #expect(!problems.isEmpty)
    }

    /// Cuts the power at `count` calls, which include the return of each command.
    private func problems(
      in run: RecordedRun,
      count: Int,
      defect: RecordedDisk.Defect? = nil
    ) async throws -> [String] {
      var random = SplitMix64(seed: seed)
      var moments = run.markedCalls
      while moments.count < count {
        moments.append(Int.random(in: 0...run.calls.count, using: &random))
      }
      return try await problems(in: run, at: moments, defect: defect)
    }

    /// Cuts the power at some calls, and runs the tool after every twentieth cut.
    private func problems(
      in run: RecordedRun,
      at moments: [Int],
      defect: RecordedDisk.Defect? = nil
    ) async throws -> [String] {
      var random = SplitMix64(seed: seed &+ 1)
      let check = PowerCutCheck(run: run)
      var disk = RecordedDisk(defect: defect)
      var applied = 0
      var problems: [String] = []
      for (number, moment) in moments.sorted().enumerated() {
        for call in run.calls[applied..<moment] { disk.apply(call) }
        applied = moment
        var atCut = disk
        if moment < run.calls.count { atCut.apply(run.calls[moment], isPending: true) }
        let image = atCut.cut(using: &random)
        let promised = run.promises(after: moment)
        var found = check.problems(of: image, promised: promised, using: &random)
        if found.isEmpty, defect == nil, number.isMultiple(of: 20) {
          found = try await check.recoveryProblems(of: image, promised: promised, using: &random)
        }
        problems += found.map { "call \(moment): \($0)" }
      }
      return problems
    }
  }
#endif
