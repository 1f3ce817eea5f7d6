import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(10)))
struct MemoryTests {
  @Test func `downloading a gibibyte uses less than 40 megabytes of memory`() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "memory-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let server = try FaultServer()
    defer { server.stop() }
    var resource = Resource(.generated(byteCount: 1 << 30, seed: 1))
    // The last byte of each connection waits for a look at the memory: the test may get no time for
    // one before.
    let gate = Gate()
    resource.rateGate = gate
    server.route("/large", resource)
    let added = try await BuiltProcess.run(["--store", folder, "add", server.url("/large")])
    #expect(added == 0)
    let store = try RecordStore(at: folder, access: .readOnly)
    let tool = try BuiltProcess(["--store", folder, "run", "--until-idle", "--timeout", "86400"])
    let (code, peak) = try await tool.exitCodeWatchingMemory(
      until: { try store.record(matching: server.url("/large")).received > (1 << 30) - 1_000 },
      then: gate.open
    )
    #expect(code == 0)
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/files/large")
    #expect(attributes[.size] as? Int == 1 << 30)
    #expect(peak > 1_000_000)
    #expect(peak < 40_000_000, "the peak was \(peak) bytes")
  }
}
