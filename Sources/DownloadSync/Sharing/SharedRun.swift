internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// Carries out the steps of ``WaitStep`` for one process.
struct SharedRun {
  private let downloads: SharedDownloads
  private let output: SharedOutput

  init(_ downloads: SharedDownloads, _ output: SharedOutput) {
    (self.downloads, self.output) = (downloads, output)
  }

  private var store: RecordStore { downloads.store }
  private var options: EngineOptions { downloads.options }

  /// Leads or follows until the downloads have ended, or the task is cancelled.
  func run() async throws {
    let urls = try store.urls(of: downloads.selection)
    var records = PacedRecords(store, urls)
    var followed = FollowedRecords(after: downloads.known)
    _ = try await records.read()
    let registration =
      downloads.waits && options.mayBeLedByOthers
      ? try WaiterRegistration(of: records.last.map(\.id), storePath: store.path) : nil
    defer { withExtendedLifetime(registration) {} }
    var wakes: FollowWakes?
    var event = WaitStep.Event.woken
    var earliest = ContinuousClock.now
    // A cancelled leader reports the state in which its engine has stopped.
    while !Task.isCancelled || event == .ran {
      // In this order, the last commits of an engine that has ended are read.
      let leader = EngineLock.holder(storePath: store.path)
      _ = try await records.read()
      let progress = SharedProgress(
        records: records.last,
        transfers: [],
        isLeading: event == .ran,
        // A process that was killed runs nothing, although it has the lock until its threads end.
        leader: event == .ran ? nil : leader.flatMap { EngineLock.isEnding($0) ? nil : $0 }
      )
      if event == .ran {
        output.report(progress)
      } else {
        report(progress, &followed)
      }
      let hasWork = leader == nil && event != .ran && hasHooks(records.last)
      let step = WaitStep.next(
        after: event,
        haveEnded: !hasWork && records.last.allSatisfy(\.needsCommand),
        engineRuns: downloads.waits && leader != nil
      )
      switch step {
      case .end: return
      case .lead: event = try await lead(urls, &records, &followed) ? .ran : .lockRefused
      case .follow:
        event = .woken
        guard let wakes else {
          // The engine may end before the watch begins, so look once more.
          wakes = FollowWakes(store)
          continue
        }
        // A cancelled sleep ends the loop.
        try? await Task.sleep(until: max(earliest, records.earliest), clock: .continuous)
        await wakes.next()
        earliest = .now + downloads.interval
      }
    }
  }

  /// Reports records that the engine of another process has changed.
  private func report(_ progress: SharedProgress, _ followed: inout FollowedRecords) {
    var progress = progress
    let events = followed.note(progress.records, now: Date(), at: .now)
    progress.transfers = followed.progress(at: .now)
    output.report(progress, events)
  }

  /// Whether hooks of downloads that have ended are left to run beside an engine of this process.
  private func hasHooks(_ records: [DownloadRecord]) -> Bool {
    downloads.leading.finish != nil
      && records.contains { $0.pendingHooks.contains(where: options.hooks.contains) }
  }

  /// Runs an engine until the downloads have ended; returns false if another one has the lock.
  private func lead(
    _ urls: [String],
    _ records: inout PacedRecords,
    _ followed: inout FollowedRecords
  ) async throws -> Bool {
    var options = options
    if downloads.waits { options.lockPatience = .zero }
    if downloads.selection != .all { options.scope = URLSet(urls) }
    let engine: DownloadEngine
    do {
      engine = try DownloadEngine(
        store: store,
        transport: downloads.transport,
        options: options,
        logger: downloads.logger
      )
    } catch let error as EngineError where error.code == .alreadyRunning && downloads.waits {
      return false
    }
    try downloads.leading.prepare(engine)
    // Until this process got the lock, another engine may have ended some of the downloads. The caller
    // learns that this process leads before the events of its engine.
    _ = try await records.read()
    report(SharedProgress(records: records.last, transfers: [], isLeading: true), &followed)
    let events = engine.events()
    async let noted: Void = note(events, of: URLSet(urls))
    let showing = Task { [records] in await show(engine, records, of: URLSet(urls)) }
    let result: Result<RunSummary, any Error>
    do {
      let goal = RunGoal.finished(.matching(urls))
      result = .success(try await engine.run(until: goal))
    } catch {
      result = .failure(error)
    }
    await noted
    showing.cancel()
    await showing.value
    _ = try result.get()
    return true
  }

  private func note(_ events: DownloadEvents, of own: URLSet) async {
    for await event in events where event.url.map(own.contains) ?? true { output.note(event) }
  }

  /// Reports the progress of the engine of this process until its run ends.
  private func show(
    _ engine: DownloadEngine,
    _ records: PacedRecords,
    of own: URLSet
  ) async {
    var records = records
    var live = LiveMembers()
    while !Task.isCancelled, await !engine.hasEnded {
      if .now >= records.earliest { _ = try? await records.read() }
      // After the records, which must not have an end that the transfers do not have.
      let transfers = await engine.currentProgress().filter { own.contains($0.url) }
      output.report(
        SharedProgress(
          records: records.last,
          transfers: transfers,
          isLeading: true,
          live: live.update(transfers, records.last)
        )
      )
      try? await Task.sleep(for: downloads.interval)
    }
  }
}

extension EngineOptions {
  /// Whether an engine with other options may run the downloads.
  var mayBeLedByOthers: Bool {
    sharesDownloads && requestInterceptors.isEmpty && responseChecks.isEmpty
      && authorizer == nil && hooks.isEmpty
  }
}
