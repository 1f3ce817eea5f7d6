import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct ActiveTransfersTests {
  private let folder: TemporaryFolder
  private let url = "https://a.example.com/file"

  init() throws { folder = try TemporaryFolder() }

  private func transfers(_ tasks: UInt64?..., url: String? = nil) throws -> ActiveTransfers {
    var active = ActiveTransfers()
    for (index, task) in tasks.enumerated() {
      let url = url ?? (index == 0 ? self.url : "https://h\(index).example.com/file")
      active.insert(try .sample(.sample(url: url), in: folder.path, task: task))
    }
    return active
  }

  @Test func `a key finds its transfer, and not that of a later generation`() throws {
    let active = try transfers(1)
    let record = DownloadRecord.sample(url: url)
    var restarted = record
    restarted.generation += 1
    #expect(active[TransferKey(record)] != nil)
    #expect(active[TransferKey(restarted)] == nil)
    #expect(active[url] != nil && active.transfer(ofRecord: record.id) != nil)
    #expect(active.transfer(ofRecord: "another") == nil)
  }

  @Test func `a transfer is asked to end once`() throws {
    var active = try transfers(1)
    #expect(active.noteEnding(url)?.task == TaskID(rawValue: 1))
    #expect(active.noteEnding(url) == nil)
    #expect(active[url]?.isEnding == true)
    #expect(active.noteEnding("https://unknown.example.com") == nil)
  }

  @Test func `an ended task is acknowledged when its transfer is gone, and once`() throws {
    var active = try transfers(2, 1)
    let key = TransferKey(.sample(url: url))
    let closed = active.close(0, of: key)
    #expect(closed == Connections.Closed(number: 0, hasProgressed: false))
    #expect(active[url]?.task == nil && active.hasTasks)
    #expect(active.takeCommittedEnds() == [])
    active.remove(url)
    #expect(active.takeCommittedEnds() == [TaskID(rawValue: 2)])
    #expect(active.takeCommittedEnds() == [])
    #expect(active.close(0, of: key) == nil)
  }

  @Test func `a removed transfer releases the lock of its file`() throws {
    var active = try transfers(1)
    let path = try #require(active[url]?.layout.partialPath)
    let file = try #require(active[url]?.transfer)
    #expect(throws: LockedFile.Refusal.locked) { _ = try LockedFile(path, for: .deleting) }
    active.remove(url)
    withExtendedLifetime(file) {
      #expect(throws: Never.self) { _ = try LockedFile(path, for: .deleting) }
    }
  }

  @Test func `when all are removed, files of running tasks stay locked`() throws {
    var active = try transfers(1, nil)
    let running = try #require(active[url])
    let ended = try #require(active["https://h1.example.com/file"])
    active.removeAll()
    #expect(active.isEmpty)
    #expect(throws: LockedFile.Refusal.locked) {
      _ = try LockedFile(running.layout.partialPath, for: .deleting)
    }
    #expect(throws: Never.self) { _ = try LockedFile(ended.layout.partialPath, for: .deleting) }
  }

  @Test func `committed bytes and a probation without a crash clear a suspect`() throws {
    let start = ContinuousClock.now
    var active = ActiveTransfers()
    for name in ["a", "b"] {
      let record = DownloadRecord.sample(url: "https://\(name).example.com/file")
      active.insert(
        try .sample(record, in: folder.path, isSuspect: true, startedAt: start)
      )
    }
    let a = DownloadRecord.sample(url: url)
    let cleared = active.noteCommitted(7, of: TransferKey(a))
    #expect(cleared == a.id)
    #expect(active[url]?.committed == 7)
    #expect(active.ordered.map(\.candidate.isSuspect) == [false, true])
    func end(after seconds: Int) -> [String] {
      active.endProbation(after: .seconds(5), at: start.advanced(by: .seconds(seconds)))
    }
    #expect(end(after: 4) == [])
    #expect(active.ordered.map(\.candidate.isSuspect) == [false, true])
    #expect(end(after: 5) == [DownloadRecord.sample(url: "https://b.example.com/file").id])
    #expect(active.ordered.map(\.candidate.isSuspect) == [false, false])
    #expect(end(after: 6) == [])
  }

  @Test func `after two crashes only the probation clears a suspect, and each crash doubles it`()
    throws
  {
    let start = ContinuousClock.now
    for (count, seconds) in [(2, 5), (3, 10), (5, 40), (99, 5_120)] as [(Int32, Int)] {
      var record = DownloadRecord.sample(url: url)
      record.unresolvedStarts = count
      var active = ActiveTransfers()
      active.insert(try .sample(record, in: folder.path, isSuspect: true, startedAt: start))
      let byProgress = active.noteCommitted(7, of: TransferKey(record))
      #expect(byProgress == nil && active[url]?.candidate.isSuspect == true)
      for (time, isCleared) in [(seconds - 1, false), (seconds, true)] {
        let cleared = active.endProbation(
          after: .seconds(5),
          at: start.advanced(by: .seconds(time))
        )
        #expect(cleared == (isCleared ? [record.id] : []), "\(count) crashes, \(time) s")
      }
      #expect(active[url]?.candidate.runsAlone == false)
      active.remove(url)
    }
  }

  @Test func `a transfer is slow after a whole period below the limit`() throws {
    let start = ContinuousClock.now
    var active = ActiveTransfers()
    active.insert(try .sample(.sample(url: url), in: folder.path, task: 1, startedAt: start))
    let transfer = try #require(active[url]?.transfer)
    func isSlow(at second: Int, rateLimit: Int64? = nil) -> Bool? {
      active.noteSpeeds(
        LowestSpeed(bytesPerSecond: 10, time: .seconds(30)),
        rateLimit: rateLimit,
        at: start.advanced(by: .seconds(second))
      )
      return active[url]?.running.isSlow
    }
    #expect(isSlow(at: 0) == false)
    #expect(isSlow(at: 29) == false)
    #expect(isSlow(at: 30) == true)
    let bytes = [UInt8](repeating: 7, count: 300)
    _ = transfer.receive(bytes.span)
    #expect(isSlow(at: 59) == true)
    #expect(isSlow(at: 60) == false, "10 bytes per second")
    _ = transfer.receive(Array(bytes.prefix(299)).span)
    #expect(isSlow(at: 90) == true)
    // The limit of the user is 10 bytes per second, and half of it is no slowness.
    _ = transfer.receive(Array(bytes.prefix(150)).span)
    #expect(isSlow(at: 120, rateLimit: 10) == false)
    _ = transfer.receive(Array(bytes.prefix(149)).span)
    #expect(isSlow(at: 150, rateLimit: 10) == true)
    // The end of the task.
    _ = active.close(0, of: TransferKey(.sample(url: url)))
    #expect(isSlow(at: 180) == false)
  }

  @Test func `the time before the task counts for no slowness`() throws {
    let start = ContinuousClock.now
    var active = ActiveTransfers()
    active.insert(try .sample(.sample(url: url), in: folder.path, startedAt: start))
    for second in [0, 40] {
      active.noteSpeeds(
        LowestSpeed(bytesPerSecond: 10, time: .seconds(30)),
        rateLimit: nil,
        at: start.advanced(by: .seconds(second))
      )
    }
    active.noteStart(of: TaskID(rawValue: 1), for: url)
    #expect(active[url]?.running.isSlow == false)
  }

  @Test func `bytes that are being written belong to their task or are not missing`() async throws {
    var record = DownloadRecord.sample(url: url)
    let chunk = [UInt8](repeating: 1, count: 64)
    let chunkCount = 16_000
    record.expected = Int64(chunk.count * chunkCount)
    let download = try ActiveTransfer.sample(record, in: folder.path, task: 1)
    let transfer = download.transfer
    async let writes: Void = {
      for _ in 0..<chunkCount { _ = transfer.receive(chunk.span) }
    }()
    var free = ByteRanges()
    while free.isEmpty, transfer.missing?.isEmpty == false {
      let (claims, missing) = try #require(download.openRanges)
      free = missing
      for claim in claims { free.remove(claim.range) }
      await Task.yield()
    }
    #expect(free.isEmpty)
    await writes
  }

  @Test func `a slot is free below both limits`() throws {
    let active = try transfers(1, 2)
    let origin = try #require(active[url]?.candidate.origin)
    func isFree(_ running: Int, _ perHost: Int, _ origin: String) -> Bool {
      active.haveFreeSlot(
        for: origin,
        ConcurrencyLimits(maximumRunning: running, maximumPerHost: perHost)
      )
    }
    #expect(isFree(3, 2, origin))
    #expect(!isFree(3, 1, origin))
    #expect(isFree(3, 1, "https://other.example.com"))
    #expect(!isFree(2, 2, "https://other.example.com"))
  }

  @Test func `a committed name reaches the transfer, unless it was replaced`() throws {
    var active = try transfers(1)
    var record = DownloadRecord.sample(url: url)
    record.filename = "b"
    let layout = FileLayout(record: record, storeID: "s", rootPath: folder.path)
    active.noteName(record, layout)
    #expect(active[url]?.record.filename == "b" && active[url]?.layout == layout)
    record.generation += 1
    record.filename = "c"
    active.noteName(record, layout)
    #expect(active[url]?.record.filename == "b")
  }

  @Test func `a change of a restarted record does not reach the transfer of the earlier one`()
    throws
  {
    var active = try transfers(1)
    var record = DownloadRecord.sample(url: url)
    record.bytesPerSecond = 5
    active.noteLimits(of: record, SplitOptions())
    #expect(active[url]?.record.bytesPerSecond == 5)
    record.generation += 1
    record.bytesPerSecond = 6
    active.noteLimits(of: record, SplitOptions())
    #expect(active[url]?.record.bytesPerSecond == 5)
    #expect(active.noteCommitted(7, of: TransferKey(record)) == nil)
    #expect(active[url]?.committed == 0)
    #expect(active.close(1, of: TransferKey(record)) == nil)
    active.noteOutcome(.complete, of: TransferKey(record))
    #expect(active[url]?.connections.outcome == nil)
  }

  @Test func `the part of a restarted download does not end that of the earlier one`() throws {
    var active = try transfers(1)
    let record = DownloadRecord.sample(url: url)
    let transfer = try #require(active[url]?.transfer)
    let part = TransferPart(
      1,
      of: transfer,
      range: 10..<20,
      proof: .unchanged(nil),
      now: { Date() },
      inbox: EngineInbox()
    )
    active.insert(part, of: url)
    var restarted = record
    restarted.generation += 1
    let ignored = active.close(1, of: TransferKey(restarted))
    #expect(ignored == nil && active[url]?.parts.count == 1)
    let ended = active.close(1, of: TransferKey(record))
    #expect(ended?.number == 1 && active[url]?.parts.isEmpty == true)
  }
}
