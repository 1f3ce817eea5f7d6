internal import DownloadStore

/// A download that has a slot, from the preparation of its request to the check of its digest.
///
/// Only ``ActiveTransfers`` changes it.
struct ActiveTransfer {
  fileprivate(set) var record: DownloadRecord
  fileprivate(set) var layout: FileLayout
  let transfer: Transfer
  /// The running task; `nil` before the first request and after the end.
  fileprivate(set) var task: TaskID?
  /// Runs the request interceptors; `nil` when the request is prepared.
  fileprivate(set) var preparation: Task<Void, Never>?
  fileprivate(set) var meter = SpeedMeter()
  fileprivate(set) var candidate: Scheduler.Candidate
  /// The position of its start, in the same count as `Scheduler.Candidate.order`.
  let started: Int
  let startedAt: ContinuousClock.Instant
  /// The number of bytes that the store counts as received.
  fileprivate(set) var committed: Int64
  /// Whether its task continues from resume data.
  let usesResumeData: Bool
  /// Whether the engine has asked it to end.
  fileprivate(set) var isEnding: Bool

  init(
    record: DownloadRecord,
    layout: FileLayout,
    transfer: Transfer,
    task: TaskID? = nil,
    candidate: Scheduler.Candidate,
    started: Int,
    startedAt: ContinuousClock.Instant,
    committed: Int64,
    usesResumeData: Bool = false,
    isEnding: Bool = false
  ) {
    self.record = record
    self.layout = layout
    self.transfer = transfer
    self.task = task
    self.candidate = candidate
    self.started = started
    self.startedAt = startedAt
    self.committed = committed
    self.usesResumeData = usesResumeData
    self.isEnding = isEnding
  }

  /// The number of missing bytes; `nil` if the size is unknown.
  var missingBytes: Int64? {
    transfer.entity.total.map { max(0, $0 - transfer.file.position) }
  }

  /// The transfer as the scheduler sees it.
  var running: Scheduler.Running {
    Scheduler.Running(candidate: candidate, started: started, isEnding: isEnding)
  }
}

/// Owns the active transfers of an engine, and the ended tasks that it has not acknowledged.
///
/// It changes no file and calls no transport: its methods note what has happened, or return what
/// the engine has to do.
struct ActiveTransfers {
  private var transfers = URLTable<ActiveTransfer>()
  /// Tasks that have ended, until the result is committed.
  private var unacknowledged: [TaskID: TransferKey] = [:]

  // MARK: Reading

  var isEmpty: Bool { transfers.isEmpty }
  var count: Int { transfers.count }
  var values: some Collection<ActiveTransfer> { transfers.values }
  /// The URLs in byte order, which is the same in every run.
  var urls: [String] { transfers.urls }
  /// The transfers in the order of their URLs.
  var ordered: [ActiveTransfer] { transfers.urls.compactMap { transfers[$0] } }

  /// The number of ended tasks whose results are not committed.
  var unacknowledgedCount: Int { unacknowledged.count }

  subscript(url: String) -> ActiveTransfer? { transfers[url] }

  /// The transfer with a key; `nil` if it is over or another one has replaced it.
  subscript(key: TransferKey) -> ActiveTransfer? {
    transfers[key.url].flatMap { key.matches($0.record) ? $0 : nil }
  }

  /// The transfer of a record, under its current or a previous URL.
  func transfer(ofRecord id: String) -> ActiveTransfer? {
    transfers.values.first { $0.record.id == id }
  }

  /// Whether a task has not reported its end.
  var hasTasks: Bool { transfers.values.contains { $0.task != nil } }

  /// Whether another download from an origin may run.
  func haveFreeSlot(for origin: String, _ limits: ConcurrencyLimits) -> Bool {
    transfers.count < limits.maximumRunning
      && transfers.values.count { $0.candidate.origin == origin } < limits.maximumPerHost
  }

  // MARK: Beginning and end

  mutating func insert(_ transfer: ActiveTransfer) {
    transfers[transfer.record.url] = transfer
  }

  /// Removes a transfer that is over, and unlocks its partial file.
  mutating func remove(_ url: String) {
    transfers[url]?.transfer.file.unlock()
    transfers[url] = nil
  }

  /// Removes all transfers.
  ///
  /// The file of a transfer whose task has not ended stays locked until the task releases it.
  mutating func removeAll() {
    for transfer in transfers.values where transfer.task == nil { transfer.transfer.file.unlock() }
    transfers.removeAll()
  }

  /// Notes that the engine asks a transfer to end.
  ///
  /// - Returns: The transfer, whose preparation and task the caller cancels; `nil` if there is none
  ///   or it is ending already.
  mutating func noteEnding(_ url: String) -> ActiveTransfer? {
    guard let transfer = transfers[url], !transfer.isEnding else { return nil }
    transfers[url]?.isEnding = true
    return transfer
  }

  // MARK: Tasks

  mutating func notePreparation(_ preparation: Task<Void, Never>, of url: String) {
    transfers[url]?.preparation = preparation
  }

  mutating func notePrepared(_ url: String) {
    transfers[url]?.preparation = nil
  }

  mutating func noteStart(of task: TaskID, for url: String) {
    transfers[url]?.task = task
  }

  /// Notes that the task of a transfer has ended.
  ///
  /// - Returns: Whether the transfer is still active.
  mutating func noteEnd(_ key: TransferKey) -> Bool {
    guard let transfer = self[key] else { return false }
    if let task = transfer.task { unacknowledged[task] = key }
    transfers[key.url]?.task = nil
    return true
  }

  /// Removes and returns the ended tasks whose results are committed, in the order of their ids.
  mutating func takeCommittedEnds() -> [TaskID] {
    let ends = unacknowledged.filter { self[$0.value] == nil }.keys
      .sorted { $0.rawValue < $1.rawValue }
    for task in ends { unacknowledged[task] = nil }
    return ends
  }

  // MARK: Progress

  /// Notes a file name that the transfer has committed.
  mutating func noteName(_ record: DownloadRecord, _ layout: FileLayout) {
    guard self[TransferKey(record)] != nil else { return }
    transfers[record.url]?.record.filename = record.filename
    transfers[record.url]?.record.destination = record.destination
    transfers[record.url]?.layout = layout
  }

  /// Notes the digest that a complete file is compared with.
  mutating func noteExpectedDigest(_ digest: String, of url: String) {
    transfers[url]?.record.expectedDigest = digest
  }

  /// Notes the committed byte count of a transfer, which clears a crash suspect.
  mutating func noteCommitted(_ received: Int64, of key: TransferKey) {
    guard self[key] != nil else { return }
    transfers[key.url]?.committed = received
    transfers[key.url]?.candidate.isSuspect = false
  }

  /// Ends the probation of crash suspects that have run for a time without a crash.
  mutating func endProbation(after probation: Duration, at now: ContinuousClock.Instant) {
    for (url, transfer) in zip(urls, ordered)
    where transfer.candidate.isSuspect && transfer.startedAt.duration(to: now) >= probation {
      transfers[url]?.candidate.isSuspect = false
    }
  }

  /// Measures the speed of all transfers.
  mutating func measure(at now: SuspendingClock.Instant) {
    for url in urls {
      guard let received = transfers[url]?.transfer.received else { continue }
      transfers[url]?.meter.note(received, at: now)
    }
  }
}
