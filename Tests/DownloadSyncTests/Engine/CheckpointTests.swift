import DownloadStore
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct CheckpointTests {
  @Test func `a checkpoint counts the bytes that are synced`() throws {
    let folder = try TemporaryFolder()
    let transfer = try Transfer.sample(.sample(), path: folder.path("part"))
    try transfer.file.write(Array("body".utf8).span)
    let checkpoint = try Checkpoint.attempt(transfer).get()
    #expect(checkpoint.synced == ByteRanges(upTo: 4))
    #expect(transfer.file.unsynced == 0)
    #expect(checkpoint.key.matches(.sample()))
  }

  @Test func `a checkpoint is due when the interval has passed since the last one`() {
    let now = ContinuousClock.now
    var schedule = CheckpointSchedule(interval: .seconds(1), last: now)
    #expect(!schedule.isDue(at: now.advanced(by: .milliseconds(999))))
    #expect(schedule.isDue(at: now.advanced(by: .seconds(1))))
    schedule.noteDone(at: now.advanced(by: .seconds(3)))
    #expect(!schedule.isDue(at: now.advanced(by: .seconds(3))))
  }
}
