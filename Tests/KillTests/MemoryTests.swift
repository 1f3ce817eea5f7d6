import FaultServer
import Foundation
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
    server.route("/large", Resource(.generated(byteCount: 1 << 30, seed: 1)))
    let added = try await BuiltProcess.run(["--store", folder, "add", server.url("/large")])
    #expect(added == 0)
    let (code, peak) = try await BuiltProcess(["--store", folder, "run", "--until-idle"])
      .exitCodeWatchingMemory()
    #expect(code == 0)
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/files/large")
    #expect(attributes[.size] as? Int == 1 << 30)
    #expect(peak > 1_000_000)
    #expect(peak < 40_000_000, "the peak was \(peak) bytes")
  }
}
