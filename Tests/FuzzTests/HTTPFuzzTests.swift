import Fuzzing
import TestSupport
import Testing

@Suite(.serialized) struct HTTPFuzzTests {
  private static let responses = FuzzCorpus(HTTPResponseFuzzer.name)
  private static let frames = FuzzCorpus(HTTP2Fuzzer.name)
  private static let targets = FuzzCorpus(RequestTargetFuzzer.name)

  private static let corpora = [
    HTTPResponseFuzzer.name: responses, HTTPSocketFuzzer.name: responses,
    HTTP2Fuzzer.name: frames, RequestTargetFuzzer.name: targets,
  ]

  @Test func `the corpus is not empty`() {
    #expect(Self.responses.names.count > 20)
    #expect(Self.frames.names.count > 15)
    #expect(Self.targets.names.count > 10)
  }

  @Test(arguments: responses.names) func `every script of the corpus satisfies the properties`(
    name: String
  ) throws {
    let input = try Self.responses.input(name)
    #expect(throws: Never.self) { try HTTPResponseFuzzer(seed: 0).check(input) }
  }

  @Test(.timeLimit(.minutes(10)), arguments: responses.names)
  func `every script of the corpus satisfies the properties over a socket`(
    name: String
  ) async throws {
    let input = try Self.responses.input(name)
    let fuzzer = try HTTPSocketFuzzer(seed: 0)
    await #expect(throws: Never.self) { try await fuzzer.check(input) }
  }

  @Test(.timeLimit(.minutes(10))) func `every script of frames satisfies the properties`()
    async throws
  {
    let fuzzer = try HTTP2Fuzzer(seed: 0)
    for name in Self.frames.names {
      let input = try Self.frames.input(name)
      await #expect(throws: Never.self, "\(name)") { try await fuzzer.check(input) }
    }
  }

  @Test(.timeLimit(.minutes(10))) func `every target of the corpus is sent as it was given`()
    async throws
  {
    let fuzzer = try RequestTargetFuzzer(seed: 0)
    for name in Self.targets.names {
      let input = try Self.targets.input(name)
      await #expect(throws: Never.self, "\(name)") { try await fuzzer.check(input) }
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: corpora.keys.sorted())
  func `a fuzzing run finds no failure`(fuzzer: String) async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      fuzzer,
      [
        "--seconds", fuzzSeconds, "--corpus", try #require(Self.corpora[fuzzer]).path,
        "--crashes", crashes.path,
      ]
    )
    #expect(run.status == 0, "\(run.output)")
    #expect(try crashes.names() == [])
    #expect(run.output.contains(", 0 found"))
  }
}
