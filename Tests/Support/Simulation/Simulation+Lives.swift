internal import DownloadSimulation
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

extension Simulation {
  /// The maximum number of jobs that an engine needs to end.
  private static let maximumStepCount = 100_000

  /// Starts an engine.
  func begin(previousExit: EngineOptions.PreviousExit = .clean) throws {
    life.releaseLocks()
    let life = Life(
      disk: disk,
      network: network,
      clock: clock,
      chance: chance,
      trace: trace,
      faults: faults,
      defects: defects
    )
    var options = EngineOptions(
      maximumRunning: profile.maximumRunning,
      maximumPerHost: profile.maximumPerHost
    )
    options.retry.base = .milliseconds(100)
    options.retry.cap = .seconds(2)
    options.checkpointBytes = Int64(profile.checkpointBytes)
    // A test that spawns a process at this moment shares the lock of the previous life until
    // `exec`.
    options.lockPatience = .seconds(10)
    options.previousExit = previousExit
    options.queueBounds = profile.queueBounds
    options.split = SplitOptions(
      maximumConnections: profile.connections,
      minimumLength: profile.shortestPart
    )
    options.preallocation = profile.preallocation
    options.pieceLength = profile.pieceLength
    options.split.measuringTime = .zero
    options.split.stallTime = .seconds(3)
    // A tick is 200 ms long: most downloads of a seed are slow at some time.
    options.lowestSpeedTime = .milliseconds(500)
    options.lowestSpeed = 2_000
    options.probation = .milliseconds(300)
    options.responseChecks = [{ [refusedResponses] _, _ in try refusedResponses.check() }]
    if profile.hooks > 0 { options.hooks = Set(DownloadHook.allCases) }
    let engine = try DownloadEngine(
      store: store,
      transport: network.session.map { BackgroundLife(life: life, session: $0) } ?? life,
      options: options,
      now: { [clock] in clock.date },
      environment: life.environment(executor)
    )
    // As `dlstore reconcile` does.
    let reconciles = chance.happens(0.1)
    let endsWhenIdle = !reconciles && idleChance.happens(profile.idleRuns)
    life.endsWhenIdle = endsWhenIdle
    life.hasLateSignals = endsWhenIdle && idleChance.happens(0.5)
    let log = EventLog(trace)
    let stream = engine.events(keeping: 1 << 20)
    Task(executorPreference: executor) { for await event in stream { log.hear(event) } }
    Task(executorPreference: executor) {
      do {
        if reconciles {
          _ = try await engine.reconcileRecords()
        } else {
          _ = try await engine.run(until: endsWhenIdle ? .idle : .stopped)
        }
        life.outcome = .success(())
      } catch {
        life.outcome = .failure(error)
      }
    }
    let goal = reconciles ? "to reconcile" : endsWhenIdle ? "until idle" : ""
    trace.note("begin", "\(previousExit) \(goal)")
    self.life = life
    self.engine = engine
    events = log
    notifiedCommit = 0
    comparedCommit = 0
  }

  /// Handles the end of a process, and starts the next one.
  func startNextProcess() throws {
    if life.isDead {
      try drainDeadEngine()
      // The disk below an unmounted volume is simulated without its own power cuts.
      let cutsPower = chance.happens(profile.powerCuts) && away == nil
      if cutsPower {
        trace.note("cut power")
        try disk.cutPower(chance, tearsInside: profile.connections > 1)
      }
      try checkRecords()
      if chance.happens(profile.tampering) { try tamper() }
      try changeBetweenProcesses()
      let exit: EngineOptions.PreviousExit = chance.happens(0.3) ? .crashed : .clean
      return try begin(previousExit: exit)
    }
    try checkOutcome()
    network.endProcess()
    try changeBetweenProcesses()
    try begin()
  }

  /// Changes files and records while no engine runs.
  private func changeBetweenProcesses() throws {
    hooks = []
    try overwrite()
    try importExport()
    try placeForeignFile()
    try changeMount()
  }

  /// Runs the remaining jobs of a dead engine.
  func drainDeadEngine() throws {
    network.crash()
    askToStop()
    var jobCount = 0
    while life.outcome == nil || executor.jobCount + executor.workCount > 0 {
      if executor.jobCount > 0 {
        executor.runJob(0)
      } else if executor.workCount > 0 {
        executor.runWork(0)
      } else {
        throw failure(.engineKeepsRunning, "an engine waits forever")
      }
      jobCount += 1
      guard jobCount < Self.maximumStepCount else {
        throw failure(.engineKeepsRunning, "an engine does not end")
      }
    }
    engine = nil
  }

  /// Asks the engine to stop.
  func askToStop() {
    life.isAskedToStop = true
    engine?.stop()
  }

  /// Stops the engine and its tasks cleanly.
  func stop() throws {
    askToStop()
    while life.outcome == nil {
      step += 1
      advance(isCalm: true)
      guard step < Self.maximumStepCount else {
        throw failure(.liveness, "the engine does not stop")
      }
    }
    try checkOutcome()
  }

  /// Checks that an engine failed only for an allowed reason.
  func checkOutcome() throws {
    switch life.outcome {
    case .failure(let error as EngineError) where error.code == .diskFull: break
    case .failure(let error): throw failure(.engineKeepsRunning, "the run has failed: \(error)")
    case .success: try checkIdleEnd()
    case nil: break
    }
    engine = nil
  }

  /// Releases everything, also after a failure.
  func abandon() {
    // Locks and process retain each other.
    defer { life.releaseLocks() }
    guard engine != nil else { return }
    life.die()
    try? drainDeadEngine()
  }
}
