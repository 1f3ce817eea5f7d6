internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import SimulatedTransport

/// An engine with its store, its disk, its network and its clock in one thread, where the order of
/// everything and every fault follow from a seed.
///
/// The engine, the store and the files are the real ones. What is simulated is what they cannot be
/// asked to do: to be killed between two effects, to lose what was not synced, and to have the
/// network, other processes and the clock act at the worst moment.
public final class Simulation {
  /// What a run was like.
  public struct Report: Sendable, Hashable {
    /// How often each kind of thing happened.
    public var counts: [String: Int]
    /// Of all that happened, in order: alike for two runs of a seed.
    public var digest: UInt64
  }

  /// What may happen next.
  private enum Choice {
    case runJob
    case runWork
    case moveTask
    case tellCommits
    case passTime
  }

  let seed: UInt64
  let defects: Set<Defect>
  let chance: Chance
  let profile: Profile
  let trace: Trace
  let clock = VirtualClock()
  let executor = StepExecutor()
  let network: SimulatedNetwork
  let disk: SimulatedDisk
  let faults = DiskFaults()
  let store: DownloadStore
  /// Another store with the same downloads, whose files lie in the same folder.
  let otherStore: DownloadStore
  private let scratch: String

  var website: Website
  var life: Life
  var engine: DownloadEngine?
  var events: EventLog
  var step = 0
  /// The commit up to which the engine was told of commits.
  var toldCommit: UInt64 = 0
  var lastTick = Duration.zero
  /// What others have put under names, by path.
  var foreignFiles: [String: [UInt8]] = [:]
  /// The files that were to go with their records, by their paths, unless somebody wants something
  /// else since.
  var unwantedFiles: [String: UInt64] = [:]
  /// The records whose partial files somebody has changed or the engine may have deleted: they count
  /// what is not there until it looks again.
  var uncertain: Set<String> = []
  /// The records that were deleted without asking the engine: a kill may leave their partial files.
  var purged: Set<String> = []
  /// The last generation of each record, by its id.
  var generations: [String: Int64] = [:]
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
    profile = Profile(
      chance,
      later: Chance(seed: seed ^ 0x5EED),
      isInBackground: Chance(seed: ~seed).happens(0.3)
    )
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
    store = try DownloadStore(at: "\(scratch)/store", now: { [clock] in clock.date })
    otherStore = try DownloadStore(at: "\(scratch)/other", now: { [clock] in clock.date })
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
  ///   - seed: Says all that happens.
  ///   - defects: What is broken on purpose.
  ///   - folder: Where the files are, for as long as it runs; one in memory makes it fast.
  ///   - listener: Is told all that happens, in order.
  /// - Returns: What the run was like.
  /// - Throws: ``SimulationFailure`` where something did not hold that must; what the file system
  ///   throws.
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
    // Whatever happens, the engine's task comes to its end.
    defer { simulation.abandon() }
    try simulation.run()
    return Report(counts: simulation.trace.counts, digest: simulation.trace.digest)
  }

  /// A folder in memory, where there is one.
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

  /// Gives the other store a partial file for the URL of each download.
  private func addOtherStore() throws {
    try otherStore.setRoot(disk.folder)
    let roots = try otherStore.roots()
    for added in try otherStore.add(website.pages.map { DownloadRequest(url: $0.urls[0]) }) {
      let path = try roots.layout(of: added.record).partialPath
      let bytes = Array(added.record.id.utf8)
      foreignFiles[path] = bytes
      try disk.put(bytes, at: path)
    }
  }

  // MARK: Steps

  /// Has one thing happen.
  private func act() throws {
    if life.isDead || life.outcome != nil { return try beginAgain() }
    if chance.happens(profile.wishes) { return try wish() }
    if try replaceContinuedURL() { return }
    if try introduceFault() { return }
    goOn(isCalm: false)
  }

  /// Has the engine, the network or the time go on.
  func goOn(isCalm: Bool) {
    let isOutdated = (try? store.objects.changeCount()) != toldCommit
    var choices: [Choice] = [.passTime]
    func offer(_ choice: Choice, _ weight: Int, _ isPossible: Bool) {
      if isPossible { choices += Array(repeating: choice, count: weight) }
    }
    offer(.runJob, 8, executor.jobCount > 0)
    offer(.runWork, 5, executor.workCount > 0)
    offer(.moveTask, 6, !network.transport.tasks.isEmpty)
    offer(.tellCommits, 2, isOutdated)
    switch chance.pick(choices) ?? .passTime {
    case .runJob: runJob()
    case .runWork: runWork()
    case .moveTask: if isCalm { network.calmStep() } else { network.step() }
    case .tellCommits: tellCommits()
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

  private func tellCommits() {
    guard !defects.contains(.commitsAreNotTold), let count = try? store.objects.changeCount(),
      life.post(.storeChanged)
    else { return }
    trace.note("tell")
    toldCommit = count
  }

  private func passTime() {
    let duration = Duration.milliseconds(chance.number(in: 1...400))
    trace.note("time", "\(duration)")
    clock.advance(by: duration)
    guard clock.elapsed - lastTick >= .milliseconds(200) else { return }
    lastTick = clock.elapsed
    _ = life.post(.ticked)
  }

  /// Checks what must always hold, if anything has changed.
  func check() throws {
    let now = (
      effects: life.effectCount, commit: try store.objects.changeCount(),
      life: ObjectIdentifier(life)
    )
    try checkTasks()
    guard seen.map({ $0 != now }) ?? true else { return }
    seen = now
    try checkRecords()
  }

  func failure(_ invariant: Invariant, _ message: String) -> SimulationFailure {
    SimulationFailure(seed: seed, step: step, invariant: invariant, message: message)
  }
}
