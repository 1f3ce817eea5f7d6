import Foundation
import FuzzSupport
import ResumeDataFuzzing
import TestSupport
import Testing

struct ResumeDataFuzzTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Corpus").path

  private static let names =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()

  /// The duration of a fuzzer run in seconds: 3 by default, a minute in CI (`make fuzz`).
  private static let seconds = ProcessInfo.processInfo.environment["DLSTORE_FUZZ_SECONDS"] ?? "3"

  @Test func `the corpus is found`() {
    #expect(Self.names.count > 20)
  }

  @Test(arguments: names) func `every input of the corpus keeps the properties`(name: String) throws
  {
    let bytes = try Data(contentsOf: URL(filePath: Self.folder).appending(path: name))
    #expect(throws: Never.self) { try ResumeDataProperties.check(Array(bytes)) }
  }

  @Test(.timeLimit(.minutes(10))) func `a fuzzer run finds no violation`() async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      ResumeDataFuzzer.name,
      ["--seconds", Self.seconds, "--corpus", Self.folder, "--crashes", crashes.path]
    )
    #expect(run.status == 0, "\(run.output)")
    #expect(try crashes.names() == [])
    let count = run.output.matches(of: /(\d+) inputs, 0 found/).first.flatMap { Int($0.1) }
    #expect(try #require(count) >= Self.names.count)
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
    let run = try await FuzzProcess.run(
      ResumeDataFuzzer.name,
      [
        "--seconds", "200", "--corpus", Self.folder, "--crashes", crashes.path, "--seed", "1",
        "--hang-seconds", "15", "--fault", fault,
      ]
    )
    #expect(run.status == 1)
    #expect(run.output.contains("\(end)"), "\(run.output)")
    let name = try #require(try crashes.names().first)
    let input = try Data(contentsOf: URL(filePath: crashes.path(name)))
    #expect(run.output.contains(input.base64EncodedString()))
  }
}
