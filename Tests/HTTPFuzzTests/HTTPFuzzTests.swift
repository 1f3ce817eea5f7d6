import Foundation
import FuzzSupport
import HTTPFuzzing
import TestSupport
import Testing

@Suite(.serialized) struct HTTPFuzzTests {
  private static func folder(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: name).path
  }

  private static func names(in corpus: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder(corpus))) ?? []).sorted()
  }

  private static let names = names(in: "Corpus")

  private static let corpora = [
    HTTPResponseFuzzer.name: "Corpus", HTTPSocketFuzzer.name: "Corpus",
    HTTP2Fuzzer.name: "HTTP2Corpus", RequestTargetFuzzer.name: "TargetCorpus",
  ]

  /// The duration of a run in seconds: short in the tests, a minute in CI (`make fuzz`).
  private static let seconds = ProcessInfo.processInfo.environment["DLSTORE_FUZZ_SECONDS"] ?? "3"

  private static func input(_ name: String, in corpus: String = "Corpus") throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: folder(corpus)).appending(path: name)))
  }

  @Test func `the corpus is not empty`() {
    #expect(Self.names.count > 20)
    #expect(Self.names(in: "HTTP2Corpus").count > 15)
    #expect(Self.names(in: "TargetCorpus").count > 10)
  }

  @Test(arguments: names) func `every script of the corpus satisfies the properties`(
    name: String
  ) throws {
    let input = try Self.input(name)
    #expect(throws: Never.self) { try HTTPResponseFuzzer(seed: 0).check(input) }
  }

  @Test(.timeLimit(.minutes(10)), arguments: names)
  func `every script of the corpus satisfies the properties over a socket`(
    name: String
  ) async throws {
    let input = try Self.input(name)
    let fuzzer = try HTTPSocketFuzzer(seed: 0)
    await #expect(throws: Never.self) { try await fuzzer.check(input) }
  }

  @Test(.timeLimit(.minutes(10))) func `every script of frames satisfies the properties`()
    async throws
  {
    let fuzzer = try HTTP2Fuzzer(seed: 0)
    for name in Self.names(in: "HTTP2Corpus") {
      let input = try Self.input(name, in: "HTTP2Corpus")
      await #expect(throws: Never.self, "\(name)") { try await fuzzer.check(input) }
    }
  }

  @Test(.timeLimit(.minutes(10))) func `every target of the corpus is sent as it was given`()
    async throws
  {
    let fuzzer = try RequestTargetFuzzer(seed: 0)
    for name in Self.names(in: "TargetCorpus") {
      let input = try Self.input(name, in: "TargetCorpus")
      await #expect(throws: Never.self, "\(name)") { try await fuzzer.check(input) }
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: corpora.keys.sorted())
  func `a fuzzing run finds no failure`(fuzzer: String) async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      fuzzer,
      [
        "--seconds", Self.seconds, "--corpus", Self.folder(try #require(Self.corpora[fuzzer])),
        "--crashes", crashes.path,
      ]
    )
    #expect(run.status == 0, "\(run.output)")
    #expect(try crashes.names() == [])
    #expect(run.output.contains(", 0 found"))
  }
}
