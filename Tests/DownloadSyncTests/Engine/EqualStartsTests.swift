import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct EqualStartsTests {
  @Test func `downloads return when no transfer has their digest`() {
    var starts = EqualStarts()
    for (url, digest) in [("c", "2"), ("a", "1"), ("b", "2")] { starts.insert(url, for: digest) }
    #expect(starts.takeFree(beside: ["1", "2"]) == [])
    #expect(starts.takeFree(beside: ["1", "3"]) == ["c", "b"])
    #expect(!starts.isEmpty)
    #expect(starts.takeFree(beside: []) == ["a"])
    #expect(starts.isEmpty)
  }
}
