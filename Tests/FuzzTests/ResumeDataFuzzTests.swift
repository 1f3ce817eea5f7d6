import Foundation
import Fuzzing
import TestSupport
import Testing

struct ResumeDataFuzzTests {
  private static let corpus = FuzzCorpus(ResumeDataFuzzer.name)

  @Test func `the corpus is found`() {
    #expect(Self.corpus.names.count > 20)
  }

  @Test(arguments: corpus.names) func `every input of the corpus keeps the properties`(
    name: String
  ) throws {
    let input = try Self.corpus.input(name)
    #expect(throws: Never.self) { try ResumeDataProperties.check(input) }
  }

  @Test(.timeLimit(.minutes(10))) func `a fuzzer run finds no violation`() async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      ResumeDataFuzzer.name,
      ["--seconds", fuzzSeconds, "--corpus", Self.corpus.path, "--crashes", crashes.path]
    )
    #expect(run.status == 0, "\(run.output)")
    #expect(try crashes.names() == [])
    let count = run.output.matches(of: /(\d+) inputs, 0 found/).first.flatMap { Int($0.1) }
    #expect(try #require(count) >= Self.corpus.names.count)
  }

  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ("trap", "signal"), ("hang", "hangs"), ("memory", "signal"), ("violation", "exit code 1"),
    ]
  )
  func `a fuzzer run finds and saves the input of a failing reader`(
    fault: String,
    end: String
  ) async throws {
    let crashes = try TemporaryFolder()
    // On a slow machine, a worker without a fault would also seem to hang for some seconds.
    let hangSeconds = fault == "hang" ? "5" : "86400"
    let run = try await FuzzProcess.run(
      ResumeDataFuzzer.name,
      [
        "--seconds", "86400", "--corpus", Self.corpus.path, "--crashes", crashes.path,
        "--seed", "1", "--hang-seconds", hangSeconds, "--fault", fault,
      ]
    )
    #expect(run.status == 1)
    #expect(run.output.contains("\(end)"), "\(run.output)")
    let name = try #require(try crashes.names().first)
    let input = try Data(contentsOf: URL(filePath: crashes.path(name)))
    #expect(run.output.contains(input.base64EncodedString()))
  }
}
