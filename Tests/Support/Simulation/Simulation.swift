internal import DownloadSimulation
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// An engine with its store, disk, network and clock in one thread, where a seed determines the
/// order of all steps and every fault.
///
/// The engine, the store and the files are real. The simulation adds what cannot be requested of
/// them: kills between two effects, the loss of unsynced changes, and the network, other processes
/// and the clock acting at the worst moment.
public final class Simulation {
  /// The statistics of a run.
  public struct Report: Sendable, Hashable {
    /// The number of occurrences of each kind of step.
    public var counts: [String: Int]
    /// A digest of all steps in order, which is equal for two runs of the same seed.
    public var digest: UInt64
  }

  /// The possible next steps.
  private enum Choice {
    case runJob
    case runWork
    case moveTask
    case notifyCommits
    case passTime
  }

  let seed: UInt64
  let defects: Set<Defect>
  let chance: Chance
  /// Decides about overwritten files only.
  let overwriteChance: Chance
  /// Decides about servers that falsify ranges only.
  let rangeChance: Chance
  /// Decides about the interference of other programs only.
  let interferenceChance: Chance
  /// Decides about imports only.
  let importChance: Chance
  /// Decides about commands after ends only.
  let hookChance: Chance
  /// Decides about unmounted volumes only.
  let rootChance: Chance
  /// Decides about foreign files between two processes only.
  let strangerChance: Chance
  /// Decides about refreshes only.
  let refreshChance: Chance
  /// Decides about equal files only.
  let equalChance: Chance
  /// Decides about runs until an engine is idle only.
  let idleChance: Chance
  /// The responses that a check refuses.
  let refusedResponses: RefusedResponses
  /// The number of overwritten files.
  var overwriteCount = 0
  var profile: Profile
  let trace: Trace
  let clock = VirtualClock()
  let executor = StepExecutor()
  let network: SimulatedNetwork
  let disk: SimulatedDisk
  let faults = DiskFaults()
  let store: RecordStore
  /// Another store with the same downloads, whose files are in the same folder.
  let otherStore: RecordStore
  let scratch: String

  var website: Website
  var life: Life
  var engine: DownloadEngine?
  var events: EventLog
  var step = 0
  /// The last commit that the engine was notified of.
  var notifiedCommit: UInt64 = 0
  /// The last commit after which the states of the records were checked, and those states.
  var checkedCommit: UInt64 = 0
  var statuses: [String: (status: DownloadStatus, createdAt: Date)] = [:]
  /// The records of the last check, and the last commit then.
  var readRecords: (commit: UInt64, records: [DownloadRecord])?
  /// The files to which cancelled refreshes were to return then, by the id of the record.
  var cancelledRefreshes: [String: FileIdentity] = [:]
  /// The last such commit after which the tasks were compared with the records.
  var comparedCommit: UInt64 = 0
  var lastTick = Duration.zero
  /// The contents of foreign files, by path.
  var foreignFiles: [String: [UInt8]] = [:]
  /// The inodes of files that must be deleted with their records, by path, unless a later command
  /// needs them.
  var unwantedFiles: [String: UInt64] = [:]
  /// The inodes of all files that were to be deleted with their records.
  var removedInodes: Set<UInt64> = []
  /// The files that downloads will replace, by path, unless a command has changed that.
  var replacedFiles: Set<String> = []
  /// The records whose partial files were changed, or deleted by the engine: they count bytes that
  /// are missing until it looks again.
  var uncertain: Set<String> = []
  /// The records whose partial file another program has changed while a task wrote it, with their
  /// generation then, by id.
  ///
  /// Bytes that were synced may still be counted, also after the task was asked to end. So a count of
  /// 0 ends this only when another transfer has begun.
  var interfered: [String: Int64] = [:]
  /// The records that were deleted without the engine: a kill may leave their partial files.
  var purged: Set<String> = []
  /// The last generation of each record, by id.
  var generations: [String: Int64] = [:]
  /// The commands after ends that run.
  var hooks: [RunningHook] = []
  /// The ends after which a command has succeeded.
  var finishedEnds: Set<String> = []
  /// What is on the volume with the files while it is not mounted; `nil` while it is.
  var away: MountedState?
  /// The ids of the records that had files when the volume was unmounted or mounted.
  var unmounted: Set<String> = []
  private var seen: (effects: Int, commit: UInt64, life: ObjectIdentifier)?

  private init(
    seed: UInt64,
    defects: Set<Defect>,
    folder: String,
    listener: (@Sendable (String) -> Void)?
  ) throws {
    self.seed = seed
    self.defects = defects
    trace = Trace(listener)
    chance = Chance(seed: seed)
    // Another number, for the same reason as below.
    overwriteChance = Chance(seed: seed ^ 6)
    rangeChance = Chance(seed: seed ^ 7)
    interferenceChance = Chance(seed: seed ^ 8)
    importChance = Chance(seed: seed ^ 9)
    hookChance = Chance(seed: seed ^ 10)
    rootChance = Chance(seed: seed ^ 11)
    strangerChance = Chance(seed: seed ^ 12)
    refreshChance = Chance(seed: seed ^ 14)
    equalChance = Chance(seed: seed ^ 15)
    idleChance = Chance(seed: seed ^ 16)
    refusedResponses = RefusedResponses(seed: seed ^ 13)
    refusedResponses.choose()
    var profile = Profile(
      chance,
      later: Chance(seed: seed ^ 0x5EED),
      isInBackground: Chance(seed: ~seed).happens(0.3)
    )
    // The number 5 keeps the history of all seeds that have failed before there were parts.
    let parts = Chance(seed: seed ^ 5)
    if !profile.isInBackground, parts.happens(0.5) { profile.split(parts) }
    if overwriteChance.happens(0.4) { profile.overwrites = 0.5 }
    if rangeChance.happens(0.4) { profile.falseRanges = 0.7 }
    if interferenceChance.happens(0.3) { profile.interference = 0.01 }
    if importChance.happens(0.3) { profile.imports = 0.5 }
    // An import clears the marks of hooks.
    if hookChance.happens(0.2), profile.imports == 0 { profile.hooks = 0.05 }
    // A background session has files of its own.
    if rootChance.happens(0.1), !profile.isInBackground { profile.unmounts = 0.4 }
    if strangerChance.happens(0.2) { profile.strangers = 0.5 }
    if refreshChance.happens(0.3) { profile.refreshes = 0.4 }
    if idleChance.happens(0.3) { profile.idleRuns = 0.7 }
    self.profile = profile
    scratch = "\(folder)/dlstore-simulation-\(UUID().uuidString)"
    disk = try SimulatedDisk(in: scratch, defects: defects)
    network = try SimulatedNetwork(
      chance,
      profile,
      trace,
      sessionFolder: "\(scratch)/session",
      defects: defects
    )
    website = Website(chance, profile)
    if equalChance.happens(0.3) { website.makeEqual(equalChance) }
    store = try RecordStore(at: "\(scratch)/store", now: { [clock] in clock.date })
    otherStore = try RecordStore(at: "\(scratch)/other", now: { [clock] in clock.date })
    events = EventLog(trace)
    life = Life(
      disk: disk,
      network: network,
      clock: clock,
      chance: chance,
      trace: trace,
      faults: faults,
      defects: defects
    )
  }

  deinit {
    try? FileManager.default.removeItem(atPath: scratch)
  }

  /// Runs the simulation of a seed.
  ///
  /// - Parameters:
  ///   - seed: Determines the run.
  ///   - defects: The injected defects.
  ///   - folder: The parent folder of the run's files. A folder in memory is fast.
  ///   - listener: Receives each step, in order.
  /// - Returns: The statistics of the run.
  /// - Throws: ``SimulationFailure`` when an invariant is violated; errors of the file system.
  @discardableResult
  public static func run(
    seed: UInt64,
    defects: Set<Defect> = [],
    in folder: String = fastFolder,
    listener: (@Sendable (String) -> Void)? = nil
  ) throws -> Report {
    let simulation = try Simulation(
      seed: seed,
      defects: defects,
      folder: folder,
      listener: listener
    )
    // Ends the engine's task in any case.
    defer { simulation.abandon() }
    try simulation.run()
    return Report(counts: simulation.trace.counts, digest: simulation.trace.digest)
  }

  /// A folder in memory, if available.
  public static var fastFolder: String {
    FileManager.default.isWritableFile(atPath: "/dev/shm")
      ? "/dev/shm" : FileManager.default.temporaryDirectory.path
  }

  private func run() throws {
    trace.note("profile", "\(profile)")
    for index in website.pages.indices {
      for url in website.urls(index) { serve(index, at: url) }
      try add(website.pages[index])
    }
    try addOtherStore()
    faults.failedSyncProbability = profile.failedSyncs
    try begin()
    while step < profile.stepCount {
      step += 1
      try act()
      try check()
    }
    try calmDown()
  }

  /// Creates a partial file of the other store for the URL of each download.
  private func addOtherStore() throws {
    try otherStore.setRoot(disk.folder)
    let roots = try otherStore.roots()
    for added in try otherStore.addNow(website.pages.map { DownloadRequest(url: $0.urls[0]) }) {
      let path = try roots.layout(of: added.record).partialPath
      let bytes = Array(added.record.id.utf8)
      foreignFiles[path] = bytes
      try disk.put(bytes, at: path)
    }
  }

  // MARK: Steps

  /// Performs one step.
  private func act() throws {
    if life.isDead || life.outcome != nil { return try startNextProcess() }
    if chance.happens(profile.commands) { return try command() }
    if try commandAtEnd() { return }
    if try replaceContinuedURL() { return }
    if try runHook() { return }
    if try introduceFault() { return }
    advance(isCalm: false)
  }

  /// Advances the engine, the network or the time.
  func advance(isCalm: Bool) {
    let isOutdated = (try? store.objects.commitNumber()) != notifiedCommit
    // A signal that comes after the end of the engine is lost.
    let isLate = !isCalm && life.hasLateSignals && !idleChance.happens(0.1)
    var choices: [Choice] = [.passTime]
    func offer(_ choice: Choice, _ weight: Int, _ isPossible: Bool) {
      if isPossible { choices += Array(repeating: choice, count: weight) }
    }
    offer(.runJob, 8, executor.jobCount > 0)
    offer(.runWork, 5, executor.workCount > 0)
    offer(.moveTask, 6, !network.transport.tasks.isEmpty)
    offer(.notifyCommits, 2, isOutdated && !isLate)
    switch chance.pick(choices) ?? .passTime {
    case .runJob: runJob()
    case .runWork: runWork()
    case .moveTask: if isCalm { network.calmStep() } else { network.step() }
    case .notifyCommits: notifyCommits()
    case .passTime: passTime()
    }
  }

  private func runJob() {
    let index = chance.number(in: 0...executor.jobCount - 1)
    trace.note("job", "\(index)")
    executor.runJob(index)
  }

  private func runWork() {
    let index = chance.number(in: 0...executor.workCount - 1)
    trace.note("work", "\(index)")
    executor.runWork(index)
  }

  private func notifyCommits() {
    guard !defects.contains(.commitsAreNotNotified), let count = try? store.objects.commitNumber(),
      life.post(.storeChanged)
    else { return }
    trace.note("tell")
    notifiedCommit = count
  }

  private func passTime() {
    let duration = Duration.milliseconds(chance.number(in: 1...400))
    trace.note("time", "\(duration)")
    clock.advance(by: duration)
    guard clock.elapsed - lastTick >= .milliseconds(200) else { return }
    lastTick = clock.elapsed
    _ = life.post(.ticked)
  }

  /// Checks the invariants if anything has changed.
  func check() throws {
    let now = (
      effects: life.effectCount, commit: try store.objects.commitNumber(),
      life: ObjectIdentifier(life)
    )
    try checkTasks()
    try checkURLs(through: now.commit)
    guard seen.map({ $0 != now }) ?? true else { return }
    seen = now
    try checkRecords()
  }

  func failure(_ invariant: Invariant, _ message: String) -> SimulationFailure {
    SimulationFailure(seed: seed, step: step, invariant: invariant, message: message)
  }
}
