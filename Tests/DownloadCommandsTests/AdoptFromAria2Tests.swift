import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The built program continues a download that a real aria2c has begun.
@Suite(.timeLimit(.minutes(10)))
struct AdoptFromAria2Tests {
  private static let program = "/usr/bin/aria2c"
  private static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

  private static let size: Int64 = 16 << 20
  private static let body = Body.generated(byteCount: size, seed: 32)

  private let folder: TemporaryFolder
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    server = try FaultServer()
    // So aria2c cannot finish, however late it is killed.
    let fault = Fault.stallAfter(bytes: 1_200_000)
    server.route("/a.bin", Resource(Self.body, faults: fault, then: .repeatLast))
  }

  /// Starts aria2c with four connections, and kills it when its control file says that some bytes of
  /// several pieces are there.
  ///
  /// - Returns: The bytes that the control file names.
  private func downloadAPart(to path: String) async throws -> ByteRanges {
    let process = Process()
    process.executableURL = URL(filePath: Self.program)
    process.arguments = [
      "--no-conf", "--quiet", "--max-tries=1", "--split=4", "--max-connection-per-server=4",
      "--min-split-size=1M", "--piece-length=1M", "--file-allocation=none",
      "--timeout=600", "--connect-timeout=600", "--auto-save-interval=1", "--dir=\(folder.path)",
      "--out=a.bin", server.url("/a.bin"),
    ]
    process.standardInput = FileHandle.nullDevice
    try process.start()
    defer {
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
    }
    while (try ranges(of: path)?.byteCount ?? 0) < 2 << 20 {
      try #require(process.isRunning, "aria2c has ended before it was killed")
      try await Task.sleep(for: .milliseconds(10))
    }
    kill(process.processIdentifier, SIGKILL)
    while process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
    return try #require(try ranges(of: path))
  }

  /// The bytes that a control file names; `nil` if there is none.
  private func ranges(of path: String) throws -> ByteRanges? {
    guard let bytes = FileManager.default.contents(atPath: path + ".aria2") else { return nil }
    return try Aria2ControlFile(Array(bytes)).ranges
  }

  private func dlstore(_ arguments: [String]) async throws {
    let process = try DLStoreProcess(arguments, store: folder.path("store"), in: folder.path)
    #expect(try await process.status() == 0, "\(process.messages)")
  }

  /// The bytes of a request.
  private static func range(_ request: Request) throws -> Range<Int64> {
    let field = try #require(request["Range"], "the whole file was requested")
    let ends = field.dropFirst("bytes=".count).split(separator: "-")
    let start = try #require(Int64(ends[0]))
    return start..<(ends.count > 1 ? try #require(Int64(ends[1])) + 1 : size)
  }

  @Test(.enabled(if: isInstalled, "needs aria2c: make test-deps"))
  func `the bytes of an aria2c that was killed are not requested again`() async throws {
    let reference = folder.path("reference")
    try Self.body.write(toFile: reference)
    let path = folder.path("a.bin")
    let received = try await downloadAPart(to: path)
    #expect(received.byteCount < Self.size)
    server.route("/a.bin", Resource(Self.body))

    let digest = try Digest.ofFile(at: reference).text
    try await dlstore(["add", server.url("/a.bin"), "--adopt", path, "--checksum", digest])
    try await dlstore(["run", "--until-idle", "--quiet"])

    // The server may read a request of aria2c after that was killed.
    let requests = server.requests.filter { $0["User-Agent"]?.hasPrefix("aria2/") != true }
    let requested = ByteRanges(try requests.map(Self.range))
    #expect(requested == received.gaps(in: 0..<Self.size))
    #expect(Self.body.matches(file: folder.path("store/files/a.bin")))
  }
}
