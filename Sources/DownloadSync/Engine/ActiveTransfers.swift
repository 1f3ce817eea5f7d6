internal import DownloadStore

/// A download that has a slot, from the preparation of its request to the check of its digest.
///
/// Only ``ActiveTransfers`` changes it.
struct ActiveTransfer {
  fileprivate(set) var record: DownloadRecord
  fileprivate(set) var layout: FileLayout
  let transfer: Transfer
  /// Copies the bytes of a finished file; `nil` if they are requested.
  let copy: FileCopy?
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
  /// The request of the first task before the interceptors, from which those of the others are
  /// derived.
  fileprivate(set) var request: TaskRequest?
  /// The header fields that the user gave; `nil` if there are none.
  let headers: RequestHeaders?
  /// The running tasks other than the first one, by number.
  fileprivate(set) var parts: [Int: ActivePart] = [:]
  fileprivate(set) var connections: Connections
  fileprivate(set) var slowness: Slowness

  init(
    record: DownloadRecord,
    layout: FileLayout,
    transfer: Transfer,
    copy: FileCopy? = nil,
    task: TaskID? = nil,
    candidate: Scheduler.Candidate,
    started: Int,
    startedAt: ContinuousClock.Instant,
    committed: Int64,
    usesResumeData: Bool = false,
    isEnding: Bool = false,
    headers: RequestHeaders? = nil,
    split: SplitOptions = SplitOptions(),
    splitRateLimit: Int64? = nil
  ) {
    self.record = record
    self.layout = layout
    self.transfer = transfer
    self.copy = copy
    self.task = task
    self.candidate = candidate
    self.started = started
    self.startedAt = startedAt
    self.committed = committed
    self.usesResumeData = usesResumeData
    self.isEnding = isEnding
    self.headers = headers
    slowness = Slowness(at: startedAt)
    connections = Connections(
      of: record,
      gaps: transfer.missing?.ranges.count ?? 0,
      split,
      rateLimit: splitRateLimit
    )
    if task != nil { connections.noteFirst() }
  }

  fileprivate mutating func step<R>(_ body: (inout Connections) -> R) -> R { body(&connections) }
}

/// A task of a transfer other than the first one.
struct ActivePart: Sendable {
  let sink: TransferPart
  /// The running task; `nil` while the request is being prepared.
  fileprivate(set) var task: TaskID?
  /// Runs the request interceptors; `nil` if there are none.
  fileprivate(set) var preparation: Task<Void, Never>?
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

  /// The required digests of the transfers whose files other downloads can copy soon.
  var digestsToAwait: Set<String> {
    Set(
      transfers.values.lazy.filter { !$0.slowness.isSlow }.compactMap(\.record.sharedDigest?.text)
    )
  }

  /// Whether a task has not reported its end.
  var hasTasks: Bool { transfers.values.contains { !$0.tasks.isEmpty } }

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
    for transfer in transfers.values where transfer.tasks.isEmpty {
      transfer.transfer.file.unlock()
    }
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

  mutating func noteRequest(_ request: TaskRequest, of url: String) {
    transfers[url]?.request = request
  }

  mutating func noteStart(of task: TaskID, for url: String) {
    transfers[url]?.task = task
    transfers[url]?.connections.noteFirst()
  }

  /// Adds a part that is about to start.
  mutating func insert(_ part: TransferPart, of url: String) {
    transfers[url]?.parts[part.number] = ActivePart(sink: part)
  }

  mutating func notePreparation(
    _ preparation: Task<Void, Never>,
    ofPart number: Int,
    of url: String
  ) {
    transfers[url]?.parts[number]?.preparation = preparation
  }

  mutating func noteStart(of task: TaskID, part number: Int, of url: String) {
    transfers[url]?.parts[number]?.task = task
    transfers[url]?.parts[number]?.preparation = nil
  }

  /// Notes that a task of a transfer has ended, or that it is not started.
  ///
  /// - Returns: The connection that is closed; `nil` if the transfer is no longer active, or has no
  ///   such part.
  mutating func close(_ number: Int, of key: TransferKey) -> Connections.Closed? {
    guard let transfer = self[key], number == 0 || transfer.parts[number] != nil else { return nil }
    if number == 0, let task = transfer.task { unacknowledged[task] = key }
    transfer.transfer.close(number)
    if number == 0 { transfers[key.url]?.task = nil }
    let part = transfers[key.url]?.parts.removeValue(forKey: number)
    var closed = transfers[key.url]?.connections.close(number)
    closed?.hasProgressed = part?.sink.hasProgressed ?? transfer.transfer.hasProgressed
    return closed
  }

  /// Steps the connections of a transfer.
  ///
  /// - Returns: What the step returns; `nil` if there is no transfer.
  mutating func step<R>(_ url: String, _ body: (inout Connections) -> R) -> R? {
    transfers[url]?.step(body)
  }

  /// Notes the result of a transfer whose tasks are to end; the first one counts.
  mutating func noteOutcome(_ outcome: TransferResult, of key: TransferKey) {
    if self[key] != nil { transfers[key.url]?.connections.noteOutcome(outcome) }
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

  /// Notes the limits of a transfer, which the user may have changed.
  mutating func noteLimits(of record: DownloadRecord, _ split: SplitOptions) {
    guard self[TransferKey(record)] != nil else { return }
    transfers[record.url]?.record.bytesPerSecond = record.bytesPerSecond
    transfers[record.url]?.record.connections = record.connections
    transfers[record.url]?.connections.limit(to: split.maximumConnections(of: record))
  }

  /// Notes the committed byte count of a transfer, which clears a suspect of one crash.
  ///
  /// - Returns: The id of the record if it was such a suspect.
  mutating func noteCommitted(_ received: Int64, of key: TransferKey) -> String? {
    guard let transfer = self[key] else { return nil }
    transfers[key.url]?.committed = received
    return transfer.candidate.runsAlone ? nil : clear(key.url)
  }

  /// Ends the probation of crash suspects that have run for a time without a crash.
  ///
  /// - Parameters:
  ///   - probation: The probation after the first crashes; each further one doubles it.
  ///   - now: The current time.
  /// - Returns: The ids of the records.
  mutating func endProbation(
    after probation: Duration,
    at now: ContinuousClock.Instant
  ) -> [String] {
    zip(urls, ordered).compactMap { url, transfer in
      let time = CrashProbation.time(probation, afterCrashes: transfer.record.unresolvedStarts)
      return transfer.startedAt.duration(to: now) >= time ? clear(url) : nil
    }
  }

  /// Clears a crash suspect, and returns its id; `nil` if it is none.
  private mutating func clear(_ url: String) -> String? {
    guard let transfer = transfers[url], transfer.candidate.isSuspect else { return nil }
    transfers[url]?.candidate.isSuspect = false
    transfers[url]?.candidate.runsAlone = false
    return transfer.record.id
  }

  /// Measures which transfers are slow.
  ///
  /// - Parameters:
  ///   - limit: The lowest speed.
  ///   - rateLimit: The limit of all transfers in bytes per second; `nil` for none.
  ///   - now: The current time.
  mutating func noteSpeeds(
    _ limit: LowestSpeed,
    rateLimit: Int64?,
    at now: ContinuousClock.Instant
  ) {
    for url in urls {
      guard let transfer = transfers[url] else { continue }
      // A limit that the user set is no reason to end a transfer.
      let limits = [rateLimit.map { $0 / Int64(count) }, transfer.record.bytesPerSecond]
      transfers[url]?.slowness.note(
        // A transfer that waits for its request, or for the digest of its file, is not slow.
        transfer.task == nil ? nil : transfer.transfer.received,
        limit.belowLimits(limits.compactMap { $0 }),
        at: now
      )
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
