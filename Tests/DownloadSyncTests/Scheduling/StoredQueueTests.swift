import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadSync

/// A queue most of whose downloads stay in the store, compared with all records of the store.
@Suite(.timeLimit(.minutes(10)))
struct StoredQueueTests {
  @Test(arguments: 0..<24 as Range<UInt64>)
  func `downloads start in the order of their priorities, and none is forgotten`(
    seed: UInt64
  ) throws {
    var model = try QueueModel(seed: seed)
    try model.add(80)
    model.queue.readStore()
    for _ in 0..<250 { try model.step() }
    try model.finish()
  }
}

/// A queue, its store, the clock and the volumes, driven by a seed.
private struct QueueModel {
  private static let volumes: [UInt64] = [0, 1]
  private static let hosts = 0..<3
  private static let bounds = QueueBounds(perHost: 3, delayed: 2, page: 4)
  private static let size: Int64 = 10 << 20

  var queue: StartQueue
  private let folder: TemporaryFolder
  private let store: RecordStore
  private var random: SplitMix64
  private let begin = ContinuousClock.now
  private let date = Date(timeIntervalSinceReferenceDate: 1_000)
  private var seconds = 0
  private var count = 0
  /// The volumes on which nothing may start.
  private var full: Set<UInt64> = []
  /// The free space of each volume.
  private var free: [UInt64: Int64] = [:]
  /// Whether volumes get full in this history.
  private let hasFullVolumes: Bool

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    hasFullVolumes = seed.isMultiple(of: 2)
    queue = StartQueue(
      limits: ConcurrencyLimits(maximumRunning: 2, maximumPerHost: 9),
      bounds: Self.bounds
    )
    for volume in Self.volumes { free[volume] = .max }
  }

  private var now: ContinuousClock.Instant { begin.advanced(by: .seconds(seconds)) }
  private var moment: Date { date.addingTimeInterval(Double(seconds)) }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private func volume(of record: DownloadRecord) -> UInt64 {
    record.url.contains("/v0/") ? 0 : 1
  }

  /// Returns the free space on the volume of a folder.
  private var space: (_ folder: String) -> Int64 {
    { [free] folder in free[folder == "/v0" ? 0 : 1] ?? .max }
  }

  /// The time before which a record does not start.
  private func deadline(of record: DownloadRecord) -> RetryDeadline? {
    let dates = [record.notBefore, record.state == .failedRetryable ? record.nextRetryAt : nil]
    guard let last = dates.compactMap({ $0 }).max(), last > moment else { return nil }
    let wait = Duration.seconds(last.timeIntervalSince(date))
    return RetryDeadline(date: last, instant: begin.advanced(by: wait))
  }

  private func change(
    _ url: String,
    _ change: (inout DownloadRecord) -> Void
  ) throws
    -> DownloadRecord
  {
    try store.objects.write { tx in
      _ = try tx.update(DownloadRecord.self, key: url, change)
    }
    return try store.record(matching: url)
  }

  /// The records that may start now.
  private func eligible() throws -> [DownloadRecord] {
    try store.records(DownloadRecord.all).filter {
      $0.mayStart && deadline(of: $0) == nil && !full.contains(volume(of: $0))
    }
  }

  // MARK: Steps

  /// Adds downloads to the store.
  @discardableResult
  mutating func add(_ added: Int) throws -> [DownloadRecord] {
    var records: [DownloadRecord] = []
    for _ in 0..<added {
      count += 1
      let (host, volume) = (number(0...2), number(0...1))
      let url = "https://h\(host).example.com/v\(volume)/\(count)"
      let (priority, wait) = (Int32(number(0...2)), number(-3...8))
      let (isImmediate, isTimed) = (number(0...9) == 0, number(0...3) == 0)
      let due = moment.addingTimeInterval(Double(wait))
      var request = DownloadRequest(url: url)
      request.priority = priority
      try store.addNow([request])
      records.append(
        try change(url) { record in
          record.startsImmediately = isImmediate
          record.expected = Self.size
          if isTimed, !isImmediate { record.notBefore = due }
        }
      )
    }
    return records
  }

  mutating func step() throws {
    switch number(0...9) {
    case 0:
      for record in try add(number(1...3)) {
        let known = deadline(of: record)
        queue.offer(record, isNew: true, volume: volume(of: record)) { _ in known }
      }
    case 1 where hasFullVolumes:
      let volume = UInt64(number(0...1))
      full.insert(volume)
      free[volume] = 0
      queue.noteFull(volume, folder: "/v\(volume)", at: now)
    case 2 where hasFullVolumes:
      // Space for no download, for one, for two or for all.
      let volume = UInt64(number(0...1))
      free[volume] = [0, 11 << 20, 21 << 20, .max][number(0...3)]
    case 3, 4: advance(by: number(1...4))
    case 5: try fail()
    default: try take()
    }
    let kinds = Self.hosts.count * Self.volumes.count
    #expect(queue.count <= kinds * Self.bounds.perHost + 4 * Self.bounds.perHost + 8)
  }

  private mutating func advance(by passed: Int) {
    seconds += passed
    let (now, space) = (now, space)
    queue.checkDiskSpace(at: now, interval: .seconds(1)) { space($0) }
    for volume in Self.volumes where free[volume] ?? 0 > DiskSpaceMonitor.reserve {
      full.remove(volume)
    }
  }

  /// Fails an attempt of a record that has started.
  private mutating func fail() throws {
    let running = try store.records(DownloadRecord.where { $0.state == .running })
    guard let record = running.randomElement(using: &random) else { return }
    let retry = moment.addingTimeInterval(Double(number(1...9)))
    let failed = try change(record.url) {
      $0.state = .failedRetryable
      $0.nextRetryAt = retry
    }
    let known = deadline(of: failed)
    queue.insertAgain(failed, volume: volume(of: failed)) { _ in known }
  }

  /// Lets the queue start the next downloads.
  ///
  /// - Returns: Whether some have started.
  @discardableResult
  private mutating func take() throws -> Bool {
    for _ in 0..<1_000 {
      let (now, space) = (now, space)
      let next = queue.takeStarts(beside: ActiveTransfers(), at: now) { space($0) }
      if !next.starting.isEmpty {
        // The queue changes nothing in the store, so these are the records that it could start.
        try start(next.starting, of: try eligible())
        return true
      }
      guard let need = next.need else { return false }
      let page = try store.objects.read { tx in
        try tx.queuePage(at: need.position, size: Self.bounds.page)
      }
      let stored = page.records.map {
        StartQueue.Stored(record: $0, volume: volume(of: $0), deadline: deadline(of: $0))
      }
      queue.insert(stored, of: page, for: need)
    }
    Issue.record("the queue reads the store without an end")
    return false
  }

  private mutating func start(
    _ candidates: [Scheduler.Candidate],
    of waiting: [DownloadRecord]
  ) throws {
    for candidate in candidates {
      let record = try #require(
        waiting.first { $0.url == candidate.url },
        "\(candidate.url) may not start"
      )
      _ = try change(record.url) { $0.state = .running }
    }
    guard let first = candidates.first, let record = waiting.first(where: { $0.url == first.url })
    else { return }
    for other in waiting where !hasFullVolumes {
      let isBefore =
        other.startsImmediately == record.startsImmediately
        ? other.priority > record.priority : other.startsImmediately
      #expect(!isBefore, "\(other.url) comes before \(record.url)")
    }
  }

  /// Starts all downloads, after the volumes have space and the times have come.
  mutating func finish() throws {
    for volume in Self.volumes { free[volume] = .max }
    for _ in 0..<400 {
      advance(by: 2)
      while try take() {}
    }
    let left = try store.records(DownloadRecord.all).filter(\.mayStart)
    #expect(left.isEmpty, "\(left.map(\.url)) are forgotten")
    #expect(queue.isEmpty && queue.fullFolder == nil)
  }
}
