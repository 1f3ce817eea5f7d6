import Foundation
import FuzzSupport
import HTTPFuzzing
import TestSupport
import Testing

@Suite(.serialized) struct HTTPFuzzTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Corpus").path

  private static let names =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()

  /// The duration of a run in seconds: short in the tests, a minute in CI (`make fuzz`).
  private static let seconds = ProcessInfo.processInfo.environment["DLSTORE_FUZZ_SECONDS"] ?? "3"

  private static func input(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: folder).appending(path: name)))
  }

  @Test func `the corpus is not empty`() {
    #expect(Self.names.count > 20)
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

  @Test(.timeLimit(.minutes(10)), arguments: [HTTPResponseFuzzer.name, HTTPSocketFuzzer.name])
  func `a fuzzing run finds no failure`(fuzzer: String) async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      fuzzer,
      ["--seconds", Self.seconds, "--corpus", Self.folder, "--crashes", crashes.path]
    )
    #expect(run.status == 0, "\(run.output)")
    #expect(try crashes.names() == [])
    #expect(run.output.contains(", 0 found"))
  }
}
