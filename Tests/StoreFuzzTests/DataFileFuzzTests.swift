import FuzzSupport
import StoreFuzzing
import TestSupport
import Testing

@Suite struct DataFileFuzzTests {
  private static let corpus = FuzzCorpus("DataFileCorpus")

  @Test func `there is a corpus`() {
    #expect(Self.corpus.names.count > 20)
  }

  /// In processes of their own, so that a signal fails one test and not the whole run.
  @Test(.timeLimit(.minutes(2)), arguments: corpus.names)
  func `no input of the corpus ends a process`(name: String) async throws {
    let file = "\(Self.corpus.path)/\(name)"
    let run = try await FuzzProcess.run(DataFileFuzzer.name, [file])
    #expect(run.status == 0, "\(run.output)")
    #expect(run.output.hasPrefix(file + ": "))
  }

  @Test(.timeLimit(.minutes(10))) func `a run finds nothing`() async throws {
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
