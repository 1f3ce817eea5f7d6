import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

/// The program with a low limit of file descriptors.
@Suite(.timeLimit(.minutes(10)))
struct DescriptorTests {
  #if os(Linux)
    /// How a program is kept from inheriting descriptors that it is not given.
    enum Closing: CaseIterable {
      case none
      case others
      /// Without the function of the C library.
      case listed
    }

    @Test(arguments: Closing.allCases, [false, true])
    func `a program that closes other descriptors inherits none`(
      closing: Closing,
      isGivenLaterOne: Bool
    ) async throws {
      let input = try #require(DescriptorPipe())
      let other = try #require(DescriptorPipe())
      defer { for end in [input.reading, other.reading] { close(end) } }
      _ = fcntl(other.writing, F_SETFD, 0)
      var start = ProcessStart()
      start.files = [.copy(input.reading, as: STDIN_FILENO)]
      if closing == .listed {
        let others = ProcessStart.inheritableDescriptors(from: STDERR_FILENO + 1)
        #expect(others.contains(other.writing) && !others.contains(other.reading))
        start.files += others.map { .close($0) }
      }
      if isGivenLaterOne { start.files.append(.copy(input.reading, as: other.writing + 1)) }
      start.closesOthers = closing == .others
      let shell = start.start("/bin/sh", arguments: ["sh", "-c", "read line"], variables: .none)
      #expect(shell.code == 0)
      close(other.writing)
      var pipe = pollfd(fd: other.reading, events: 0, revents: 0)
      // A program that another test starts at this moment may hold it for as long as it runs, and
      // may need this thread to end.
      while closing != .none, unsafe poll(&pipe, 1, 0) == 0 {
        try await Task.sleep(for: .milliseconds(10))
      }
      let isClosed = unsafe poll(&pipe, 1, 0) == 1
      #expect(isClosed == (closing != .none))
      close(input.writing)
      var status: Int32 = 0
      _ = waitpid(shell.id, &status, 0)
    }
  #endif

  @Test func `a low limit of file descriptors delays downloads and fails none`() async throws {
    let folder = try TemporaryFolder()
    let server = try FaultServer()
    defer { server.stop() }
    let body = Body.generated(byteCount: 400_000, seed: 31)
    var resource = Resource(body)
    // No transfer ends before a further one has met the limit, however slowly they start.
    let gate = Gate()
    resource.rateGate = gate
    let paths = (0..<24).map { "/file\($0)" }
    for path in paths { server.route(path, resource) }
    let urls = paths.map { server.url($0) }.joined(separator: " ")
    let process = try DLStoreProcess(
      [],
      store: folder.path("store"),
      in: folder.path,
      shell: "ulimit -n 40; exec dlstore get --max-concurrent 20 --per-host 20 \(urls)"
    )
    // Twenty files and as many connections exceed the limit.
    try await process.message("Too many open files")
    gate.open()
    #expect(try await process.status() == 0, "\(process.messages)")
    let store = try RecordStore(at: folder.path("store"), access: .readOnly)
    for path in paths {
      let record = try store.record(matching: server.url(path))
      #expect(record.state == .completed)
      #expect(body.matches(file: folder.path(record.filename)))
      #expect(record.attempts.isEmpty, "\(record.attempts)")
    }
  }
}
