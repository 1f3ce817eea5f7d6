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
  /// The request of the first task before the interceptors, from which those of the others are
  /// derived.
  fileprivate(set) var request: TaskRequest?
  /// The servers that its connections use.
  fileprivate(set) var sources: ConnectionSources
  /// The number of received bytes when a connection was replaced because all had stalled.
  fileprivate(set) var replacedAt: Int64?
  /// Whether the response has been asked for further servers.
  fileprivate(set) var hasReadLinks = false
  /// The header fields that the user gave; `nil` if there are none.
  let headers: RequestHeaders?
  /// Whether a connection has used another server than the first one.
  fileprivate(set) var hasUsedMirrors = false
  /// The running tasks other than the first one, by number.
  fileprivate(set) var parts: [Int: ActivePart] = [:]
  /// The number of tasks that were started, except for the first one.
  fileprivate(set) var partCount = 0
  /// The result of the transfer, which is over once all tasks have ended.
  fileprivate(set) var outcome: TransferResult?
  fileprivate(set) var ramp: ConnectionRamp
  /// The numbers of the running tasks that the engine has asked to end, although the transfer
  /// continues.
  fileprivate(set) var endingConnections: Set<Int> = []
  /// The progress of the running tasks, by number; the first one has the number zero.
  fileprivate(set) var paces: [Int: ConnectionPace] = [:]
  fileprivate(set) var slowness: Slowness

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
    isEnding: Bool = false,
    headers: RequestHeaders? = nil,
    split: SplitOptions = SplitOptions(),
    splitRateLimit: Int64? = nil
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
    self.headers = headers
    sources = ConnectionSources(first: record.source, of: record)
    slowness = Slowness(at: startedAt)
    ramp = ConnectionRamp(
      maximum: split.maximumConnections(of: record),
      gaps: transfer.missing?.ranges.count ?? 0,
      measuringTime: split.measuringTime,
      rateLimit: splitRateLimit
    )
  }

  /// Forgets what was noted about a task that has ended.
  fileprivate mutating func forget(_ number: Int) {
    paces[number] = nil
    endingConnections.remove(number)
  }
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
  }

  /// Chooses the source of the next connection of a transfer.
  ///
  /// - Parameters:
  ///   - url: The URL of the transfer.
  ///   - mirrors: The mirrors whose ranges can be shown to belong to the same file.
  ///   - limits: The limits, in total and per host.
  /// - Returns: The index of the source, and the source; `nil` if there is no free connection.
  func nextSource(
    of url: String,
    using mirrors: ConnectionSources.Mirrors,
    _ limits: ConcurrencyLimits
  ) -> (index: Int, source: ConnectionSources.Source)? {
    guard let transfer = transfers[url] else { return nil }
    let isFull = count(ofConnections: nil) >= limits.maximumRunning
    let index = transfer.sources.next(
      beside: transfer.usedSources,
      using: mirrors
    ) { origin in
      // The connection to the first server counts even while it is not open.
      if origin == transfer.candidate.origin, transfer.ownCount == 0 { return true }
      return !isFull && count(ofConnections: origin) < limits.maximumPerHost
    }
    return index.map { ($0, transfer.sources.all[$0]) }
  }

  /// Whether more connections of a transfer are open than allowed, in total or to an origin.
  ///
  /// - Parameters:
  ///   - url: The URL of the transfer.
  ///   - limits: The limits.
  /// - Returns: `total`, or an origin to which too many connections are open; `nil` if there is none.
  func excess(of url: String, _ limits: ConcurrencyLimits) -> ConnectionExcess? {
    guard let transfer = transfers[url] else { return nil }
    if count(ofConnections: nil) > limits.maximumRunning { return .total }
    let origins = [transfer.candidate.origin] + transfer.mirrorConnections.keys.sorted()
    return origins.first { count(ofConnections: $0) > limits.maximumPerHost }
      .map(ConnectionExcess.origin)
  }

  private func count(ofConnections origin: String?) -> Int {
    transfers.values.reduce(0) { sum, transfer in
      sum + (origin.map { transfer.running.connectionCount(to: $0) } ?? transfer.connectionCount)
    }
  }

  /// Adds the servers that the first response lists to those of a transfer, once.
  mutating func noteLinks(of url: String) {
    guard let transfer = transfers[url], !transfer.hasReadLinks,
      let head = transfer.transfer.head, let request = transfer.request
    else { return }
    transfers[url]?.hasReadLinks = true
    transfers[url]?.sources.add(head.duplicates(of: request.url))
  }

  /// Returns the number of the next part of a transfer.
  mutating func nextPart(of url: String) -> Int {
    transfers[url]?.partCount += 1
    return transfers[url]?.partCount ?? 0
  }

  /// Adds a part that is about to start.
  mutating func insert(_ part: TransferPart, of url: String) {
    transfers[url]?.parts[part.number] = ActivePart(sink: part)
    if part.isOfMirror { transfers[url]?.hasUsedMirrors = true }
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

  /// Notes that the task of a part has ended.
  ///
  /// - Returns: The part; `nil` if its transfer is no longer active.
  mutating func noteEnd(ofPart number: Int, of key: TransferKey) -> ActivePart? {
    guard let transfer = self[key] else { return nil }
    transfer.transfer.close(number)
    transfers[key.url]?.forget(number)
    return transfers[key.url]?.parts.removeValue(forKey: number)
  }

  /// Whether the engine has asked a task of a transfer to end, although the transfer continues.
  func isEnding(_ number: Int, of key: TransferKey) -> Bool {
    self[key]?.endingConnections.contains(number) ?? false
  }

  /// Notes that the engine asks a task of a transfer to end.
  ///
  /// - Returns: Whether the caller is to cancel it: it exists, and is not ending already.
  mutating func noteEnding(_ number: Int, of url: String) -> Bool {
    guard let transfer = transfers[url],
      number == 0 ? transfer.task != nil : transfer.parts[number] != nil
    else { return false }
    return transfers[url]?.endingConnections.insert(number).inserted ?? false
  }

  /// Notes the result of a transfer whose tasks are to end; the first one counts.
  mutating func noteOutcome(_ outcome: TransferResult, of key: TransferKey) {
    guard let transfer = self[key], transfer.outcome == nil else { return }
    transfers[key.url]?.outcome = outcome
  }

  /// Notes that a server refused a connection of a transfer: a mirror gets none again, and the first
  /// server not as many.
  mutating func noteRefusal(ofSource source: Int, of key: TransferKey) {
    guard let transfer = self[key] else { return }
    if source > 0 {
      transfers[key.url]?.sources.refuse(source)
    } else {
      transfers[key.url]?.ramp.noteRefusal(running: transfer.openCount)
    }
  }

  /// Notes the progress of the tasks of a transfer.
  ///
  /// - Returns: The numbers of the tasks to replace: those that have stalled although another one makes
  ///   progress. If all have, one of them, once until bytes arrive again.
  mutating func notePace(
    of url: String,
    stallTime: Duration,
    at now: ContinuousClock.Instant
  ) -> [Int] {
    guard let transfer = transfers[url] else { return [] }
    transfers[url]?.ramp.note(
      transfer.transfer.received,
      running: transfer.progressedCount,
      at: now
    )
    for (number, position) in transfer.transfer.positions
    where number > 0 || transfer.task != nil {
      transfers[url]?.paces[number, default: ConnectionPace(at: position, now)]
        .note(position, at: now)
    }
    let paces = transfers[url]?.paces ?? [:]
    let stalled = ConnectionPace.stalled(paces, after: stallTime, at: now)
    guard !stalled.isEmpty, stalled.count == paces.count else { return stalled }
    let received = transfer.transfer.received
    guard transfer.transfer.isSplit, transfer.replacedAt != received else { return [] }
    transfers[url]?.replacedAt = received
    return Array(stalled.prefix(1))
  }

  /// Notes that the task of a transfer has ended.
  ///
  /// - Returns: Whether the transfer is still active.
  mutating func noteEnd(_ key: TransferKey) -> Bool {
    guard let transfer = self[key] else { return false }
    if let task = transfer.task { unacknowledged[task] = key }
    transfer.transfer.close(0)
    transfers[key.url]?.task = nil
    transfers[key.url]?.forget(0)
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

  /// Notes the limits of a transfer, which the user may have changed.
  mutating func noteLimits(of record: DownloadRecord, _ split: SplitOptions) {
    guard self[TransferKey(record)] != nil else { return }
    transfers[record.url]?.record.bytesPerSecond = record.bytesPerSecond
    transfers[record.url]?.record.connections = record.connections
    transfers[record.url]?.ramp.limit(to: split.maximumConnections(of: record))
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
