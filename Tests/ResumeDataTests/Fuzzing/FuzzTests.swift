import Foundation
import ResumeDataFuzzing
import TestSupport
import Testing

struct FuzzTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Corpus").path

  private static let names =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()

  /// Seconds for a run: some in the tests, a minute in CI (`make fuzz`).
  private static let seconds = ProcessInfo.processInfo.environment["DLSTORE_FUZZ_SECONDS"] ?? "3"

  @Test func `there is a corpus`() {
    #expect(Self.names.count > 20)
  }

  @Test(arguments: names) func `what was found once stays found`(name: String) throws {
    let bytes = try Data(contentsOf: URL(filePath: Self.folder).appending(path: name))
    #expect(throws: Never.self) { try ResumeDataProperties.check(Array(bytes)) }
  }

  @Test(.timeLimit(.minutes(10))) func `a run finds nothing`() async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      "--seconds",
      Self.seconds,
      "--corpus",
      Self.folder,
      "--crashes",
      crashes.path
    )
    #expect(run.status == 0, "\(run.output)")
    #expect(try crashes.names() == [])
    let count = run.output.matches(of: /(\d+) inputs, 0 found/).first.flatMap { Int($0.1) }
    #expect(try #require(count) >= Self.names.count)
  }

  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      ("trap", "signal"), ("hang", "hangs"), ("memory", "signal"), ("violation", "exit code 1"),
    ]
  )
  func `a reader that fails would be found`(fault: String, end: String) async throws {
    let crashes = try TemporaryFolder()
    let run = try await FuzzProcess.run(
      "--seconds",
      "200",
      "--corpus",
      Self.folder,
      "--crashes",
      crashes.path,
      "--seed",
      "1",
      "--hang-seconds",
      "15",
      "--fault",
      fault
    )
    #expect(run.status == 1)
    #expect(run.output.contains("\(end)"), "\(run.output)")
    let name = try #require(try crashes.names().first)
    let input = try Data(contentsOf: URL(filePath: crashes.path(name)))
    #expect(run.output.contains(input.base64EncodedString()))
  }
}

/// The built `resume-data-fuzz` as a process of its own.
enum FuzzProcess {
  static func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = try program
    process.arguments = arguments
    let output = try folder.makeFile("output")
    process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
    process.standardError = FileHandle.nullDevice
    return try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { process in
        let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        // The folder is needed until here.
        withExtendedLifetime(folder) {
          continuation.resume(returning: (process.terminationStatus, text))
        }
      }
      do {
        try process.run()
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  /// The program beside the test program.
  private static var program: URL {
    get throws {
      let arguments = CommandLine.arguments
      var own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      if let index = arguments.firstIndex(of: "--test-bundle-path"), index + 1 < arguments.count {
        own = URL(filePath: arguments[index + 1])
      }
      var parent = own.deletingLastPathComponent()
      while parent.path.count > 1 {
        let program = parent.appending(path: "resume-data-fuzz")
        if FileManager.default.isExecutableFile(atPath: program.path) { return program }
        parent.deleteLastPathComponent()
      }
      throw CocoaError(.fileNoSuchFile)
    }
  }
}
