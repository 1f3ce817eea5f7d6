import DownloadStore
import TestSupport
import Testing

@testable import DownloadSync

@Suite(.timeLimit(.minutes(10)))
struct GroupMembersTests {
  private let url = "https://example.com/a"

  @Test func `bytes count for the record that receives them, whatever URLs records had before`()
    async throws
  {
    let folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path("store"))
    try store.addNow([DownloadRequest(url: url)])
    var update = RecordUpdate()
    update.addedTags = ["first"]
    update.url = "https://example.com/b"
    let first = try #require(try store.updateNow(matching: url, with: update).record)
    // Another download gets the previous URL of the first one.
    var request = DownloadRequest(url: url)
    request.tags = ["second"]
    let second = try store.addNow([request])[0].record
    let live = [first, second].map { record in
      let received: Int64 = record == first ? 10 : 3
      return DownloadProgress(
        recordID: record.id,
        url: record.url,
        filename: record.filename,
        state: .running,
        received: received
      )
    }
    for (tag, received) in [("first", 10), ("second", 3)] as [(String, Int64)] {
      let members = GroupMembers(of: store.group(tag))
      try await members.load()
      var known = LiveMembers()
      #expect(try members.progress(with: live, &known).received == received)
    }
  }
}
