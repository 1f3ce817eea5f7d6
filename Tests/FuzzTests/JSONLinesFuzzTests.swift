import Fuzzing
import TestSupport
import Testing

@Suite struct JSONLinesFuzzTests {
  private static let corpus = FuzzCorpus(JSONLinesFuzzer.name)

  @Test func `the corpus is found`() {
    #expect(Self.corpus.names.count > 20)
  }

  @Test(arguments: corpus.names) func `every input of the corpus keeps the properties`(
    name: String
  ) throws {
    let input = try Self.corpus.input(name)
    #expect(throws: Never.self) { try JSONLinesFuzzer(seed: 0).check(input) }
  }

  @Test(.timeLimit(.minutes(10))) func `a fuzzer run finds no violation`() async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      JSONLinesFuzzer.name,
      ["--seconds", fuzzSeconds, "--corpus", Self.corpus.path, "--crashes", crashes.path]
    )
    #expect(run.status == 0, "\(run.output)")
    #expect(try crashes.names() == [])
    #expect(run.output.contains(", 0 found"))
  }
}
