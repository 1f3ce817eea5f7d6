import Fuzzing
import TestSupport
import Testing

@Suite struct DataFileFuzzTests {
  private static let corpus = FuzzCorpus(DataFileFuzzer.name)

  @Test func `the corpus is found`() {
    #expect(Self.corpus.names.count > 20)
  }

  /// Each input is checked in a child process, so that a signal fails only its own test.
  @Test(.timeLimit(.minutes(10)), arguments: corpus.names)
  func `no input of the corpus crashes or violates a property`(name: String) async throws {
    let file = "\(Self.corpus.path)/\(name)"
    let run = try await FuzzProcess.run(DataFileFuzzer.name, [file])
    #expect(run.status == 0, "\(run.output)")
    #expect(run.output.hasPrefix(file + ": "))
  }

  @Test(.timeLimit(.minutes(10))) func `a fuzzer run finds no violation`() async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      DataFileFuzzer.name,
      ["--seconds", fuzzSeconds, "--corpus", Self.corpus.path, "--crashes", crashes.path]
    )
    #expect(run.status == 0, "\(run.output)")
    #expect(try crashes.names() == [])
    #expect(run.output.contains(", 0 found"))
  }
}
