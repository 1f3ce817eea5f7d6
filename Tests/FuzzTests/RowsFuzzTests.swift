import Fuzzing
import TestSupport
import Testing

@Suite struct RowsFuzzTests {
  private static let corpus = FuzzCorpus(RowFuzzer.name)

  @Test func `the corpus is found`() {
    #expect(Self.corpus.names.count >= 10)
  }

  @Test(arguments: corpus.names) func `every input of the corpus keeps the properties`(
    name: String
  ) throws {
    let input = try Self.corpus.input(name)
    #expect(throws: Never.self) { try RowFuzzer(seed: 0).check(input) }
  }

  @Test(.timeLimit(.minutes(10))) func `a fuzzer run finds no violation`() async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      RowFuzzer.name,
      ["--seconds", fuzzSeconds, "--corpus", Self.corpus.path, "--crashes", crashes.path]
    )
    #expect(run.status == 0, "\(run.output)")
    #expect(try crashes.names() == [])
    #expect(run.output.contains(", 0 found"))
  }
}
