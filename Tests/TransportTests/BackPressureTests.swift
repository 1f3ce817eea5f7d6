import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// Bounds of memory and transfer rate.
@Suite(.timeLimit(.minutes(10)))
struct BackPressureTests {
  #if os(Linux)
    /// Runs in a process of its own, because other tests use memory, too.
    ///
    /// Not with AddressSanitizer, which keeps freed memory back.
    @Test(.enabled(if: !isAddressSanitized, "AddressSanitizer keeps freed memory back"))
    func `a slow sink keeps memory bounded`() async {
      await #expect(processExitsWith: .success) {
        let server = try FaultServer()
        let body = Body.generated(byteCount: 256 << 20, seed: 15)
        server.route("/file", Resource(body))
        server.route("/small", Resource(.generated(byteCount: 1 << 20)))
        let transport = TransportUnderTest.make()
        let first = RecordingSink()
        _ = transport.start(TaskRequest(url: server.url("/small"), recordID: "1"), sink: first)
        try #require(await first.outcome() == .completed)
        let before = try #require(peakMemory())

        let sink = RecordingSink(
          expecting: body,
          onBytes: { _ in
            Thread.sleep(forTimeInterval: 0.000_1)
            return .proceed
          }
        )
        _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "2"), sink: sink)
        try #require(await sink.outcome() == .completed)
        #expect(sink.record.isIntact && sink.record.byteCount == 256 << 20)
        let after = try #require(peakMemory())
        #expect(after - before < 64 << 20)
      }
    }
  #endif

  @Test func `the rate limit applies to the sum of all tasks`() async throws {
    let server = try FaultServer()
    server.route("/file", Resource(.generated(byteCount: 100_000)))
    let transport = TransportUnderTest.make(bytesPerSecond: 200_000)
    #expect(transport.bytesPerSecond == 200_000)
    let sinks = (0..<3).map { _ in RecordingSink() }
    let start = ContinuousClock.now
    for sink in sinks {
      _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
    }
    for sink in sinks { #expect(await sink.outcome() == .completed) }
    // 300,000 bytes minus the burst of a tenth of a second.
    #expect(ContinuousClock.now - start >= .seconds(1.4))
  }

  @Test func `with a rate limit a sink receives at most 16 KiB at a time`() async throws {
    let server = try FaultServer()
    let body = Body.generated(byteCount: 4 << 20)
    server.route("/file", Resource(body))
    let transport = TransportUnderTest.make(bytesPerSecond: 1 << 40)
    let sink = RecordingSink(expecting: body)
    _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
    #expect(await sink.outcome() == .completed)
    #expect(sink.record.isIntact && sink.record.chunkCount >= 256)
  }

  @Test func `removing the rate limit ends its delays`() async throws {
    let server = try FaultServer()
    let body = Body.generated(byteCount: 5_000_000)
    server.route("/file", Resource(body))
    let transport = TransportUnderTest.make(bytesPerSecond: 1_000)
    let sink = RecordingSink(expecting: body, onHead: { _ in .proceed })
    _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    transport.bytesPerSecond = nil
    #expect(await sink.outcome() == .completed)
    #expect(sink.record.isIntact && sink.record.byteCount == 5_000_000)
  }

  @Test func `cancelling does not wait for the rate limit`() async throws {
    let server = try FaultServer()
    server.route("/file", Resource(.generated(byteCount: 5_000_000)))
    let transport = TransportUnderTest.make(bytesPerSecond: 10)
    let sink = RecordingSink(onHead: { _ in .proceed })
    let id = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    transport.cancel(id)
    #expect(await sink.outcome() == .cancelled)
  }
}

#if os(Linux)
  private var isAddressSanitized: Bool {
    unsafe dlsym(nil, "__asan_init") != nil
  }

  /// The peak resident memory of this process, in bytes.
  private func peakMemory() -> Int? {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  }
#endif
