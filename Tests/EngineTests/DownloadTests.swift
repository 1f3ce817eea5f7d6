import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import TestTraits
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DownloadTests {
  @Test func `a completed download has its requested name and every byte`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 3_000_000, seed: 1)
    fixture.server.route("/a.bin", Resource(body))
    try fixture.add("/a.bin")
    let (summary, _) = try await fixture.run()
    #expect(summary.completed == 1)
    let record = try fixture.record("/a.bin")
    #expect(record.state == .completed)
    #expect(record.received == 3_000_000)
    #expect(body.matches(file: fixture.file("a.bin")))
    let left = try FileManager.default.contentsOfDirectory(atPath: fixture.file(""))
    #expect(left == ["a.bin"])
  }

  @Test(.requirements("ZY39")) func `a reset connection is resumed at the first missing byte`()
    async throws
  {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 4_000_000, seed: 2)
    let resource = Resource(body, faults: .resetAfter(bytes: 1_500_000))
    let gate = fixture.routeGated("/a.bin", resource)
    try fixture.add("/a.bin")
    try await fixture.run(opening: gate, at: 1_500_000)
    #expect(body.matches(file: fixture.file("a.bin")))
    let ranges = fixture.ranges("/a.bin")
    #expect(ranges.count == 2)
    #expect(ranges.first == .some(nil))
    let second = try #require(ranges.last ?? nil)
    #expect(second.hasPrefix("bytes=") && second != "bytes=0-")
  }
}
