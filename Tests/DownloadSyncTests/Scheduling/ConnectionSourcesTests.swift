import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct ConnectionSourcesTests {
  private func sources(first: String = "http://a/1") -> ConnectionSources {
    var record = DownloadRecord.sample(url: "http://a/1")
    record.mirrors = ["http://b/1", "http://c/1"]
    return ConnectionSources(first: first, of: record)
  }

  private func next(
    _ sources: ConnectionSources,
    _ connections: [Int],
    mirrors: ConnectionSources.Mirrors = .all,
    full: Set<String> = []
  ) -> Int? {
    sources.next(beside: connections, using: mirrors) { !full.contains($0) }
  }

  @Test func `the URL of the first connection comes first, and each URL once`() {
    #expect(sources().all.map(\.url) == ["http://a/1", "http://b/1", "http://c/1"])
    let other = sources(first: "http://b/1")
    #expect(other.all.map(\.url) == ["http://b/1", "http://a/1", "http://c/1"])
    #expect(other.all[1].origin == "http://a:80")
  }

  @Test func `the next connection uses the source with the fewest`() {
    #expect(next(sources(), [0]) == 1)
    #expect(next(sources(), [0, 1]) == 2)
    #expect(next(sources(), [2, 0, 1]) == 0)
    #expect(next(sources(), [0, 1, 2, 0]) == 1)
    #expect(next(sources(), [1, 2]) == 0)
  }

  @Test func `without a proof only the first source is used`() {
    #expect(next(sources(), [0, 0], mirrors: .none) == 0)
    #expect(next(sources(), [0, 0], mirrors: .none, full: ["http://a:80"]) == nil)
  }

  @Test func `other URLs of the same server may be used without other servers`() {
    var sources = sources()
    #expect(next(sources, [0, 0], mirrors: .ofSameOrigin) == 0)
    sources.add(["http://a:80/2"])
    #expect(next(sources, [0, 0], mirrors: .ofSameOrigin) == 3)
  }

  @Test func `a server without a free connection is passed over`() {
    #expect(next(sources(), [0], full: ["http://b:80"]) == 2)
    #expect(next(sources(), [0], full: ["http://a:80", "http://b:80", "http://c:80"]) == nil)
  }

  @Test func `a mirror that was refused is not used again, but the first source is`() {
    var sources = sources()
    for index in 0..<3 { sources.refuse(index) }
    #expect(next(sources, [0]) == 0)
  }

  @Test func `a response adds a limited number of mirrors`() {
    var sources = sources()
    sources.add(["http://b/1"] + (0..<100).map { "http://d\($0)/1" })
    #expect(sources.all.count == 32)
    #expect(sources.all[3].url == "http://d0/1")
  }
}
