internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import Synchronization

/// Runs the hooks of downloads that have ended, beside the engine.
///
/// The store is the source: the marks of a command and of a webhook are committed with the end of a
/// download, and each is cleared after its own success. So a kill at any moment loses no hook, and may
/// repeat one. The failure of either does not keep the other from running, nor repeats it.
struct HookRunner: Sendable {
  private enum Signal: Sendable {
    /// The store may contain new marks, or a delayed hook is due.
    case woken
    case ended(HookQueue.Entry, End)
    /// The engine has nothing else to do: it is to be told when no hook is left to run.
    case asked(reply: @Sendable () -> Void)
    /// No further download ends.
    case finish
    case stop
    /// The time for running commands is over.
    case abandon
  }

  /// How the run of a hook ended.
  private enum End: Sendable {
    /// The hook succeeded or is no longer wanted, and the store does not have its mark any more.
    case cleared
    /// The hook succeeded, or could not be looked up, and its mark stays.
    case marked
    case failed(String)
    /// Another process runs a hook of the download.
    case busy
  }

  /// The downloads whose hooks run.
  private enum Scope: Sendable {
    /// The maximum number of URLs that are looked up.
    static let maximumLookUps = 1_000

    case all
    /// So few that their records are read, whatever else is pending in the store.
    case few([String])
    /// So many that they are found among the pending downloads.
    case many(URLSet)

    init(_ urls: [String]?) {
      guard let urls else {
        self = .all
        return
      }
      self = urls.count <= Self.maximumLookUps ? .few(urls) : .many(URLSet(urls))
    }
  }

  private let store: RecordStore
  private let actions: HookActions
  private let scope: Scope
  private let wakeFlag = WakeFlag()
  /// The time that running commands have after a stop.
  private let stopPatience: Duration
  private let inbox: AsyncStream<Signal>
  private let signals: AsyncStream<Signal>.Continuation

  init(
    store: RecordStore,
    actions: HookActions,
    scope: [String]?,
    stopPatience: Duration = .seconds(10)
  ) {
    self.store = store
    self.actions = actions
    self.scope = Scope(scope)
    self.stopPatience = stopPatience
    (inbox, signals) = AsyncStream.makeStream()
    signals.yield(.woken)
  }

  /// Reads the marks again, once for all calls until then.
  func wake() {
    if wakeFlag.set() { signals.yield(.woken) }
  }

  /// Calls `reply` once no hook is left to run for the ends of downloads that are in the store.
  func ask(_ reply: @escaping @Sendable () -> Void) { signals.yield(.asked(reply: reply)) }

  /// Lets ``run()`` return when no hook is left to run.
  func finish() { signals.yield(.finish) }

  /// Starts no further hooks; the marks stay for the next run.
  func stop() { signals.yield(.stop) }

  /// Runs hooks until ``finish()`` or ``stop()``.
  ///
  /// - Returns: The number of hooks that failed too often.
  func run() async -> Int {
    var queue = HookQueue()
    var running: [HookQueue.Entry: Task<Void, Never>] = [:]
    var timers: [Task<Void, Never>] = []
    defer { for timer in timers { timer.cancel() } }
    var (isFinishing, isStopping) = (false, false)
    var reply: (@Sendable () -> Void)?
    for await signal in inbox {
      switch signal {
      case .woken: wakeFlag.clear()
      case .asked(let asked): reply = asked
      case .finish: isFinishing = true
      case .abandon: for task in running.values { task.cancel() }
      case .stop where !isStopping:
        isStopping = true
        timers.append(timer(.abandon, at: .now.advanced(by: stopPatience)))
      case .stop: break
      case .ended(let entry, let end):
        running[entry] = nil
        note(end, of: entry, in: &queue, isStopping: isStopping)
      }
      if !isStopping {
        if queue.needsEntries { queue.insert(entries(atMost: queue.readLimit)) }
        for entry in queue.takeStarts(at: .now) {
          running[entry] = Task { signals.yield(.ended(entry, await run(entry))) }
        }
        for timer in timers { timer.cancel() }
        timers = queue.nextDue.map { [timer(.woken, at: $0)] } ?? []
      }
      if running.isEmpty, isStopping || queue.isIdle {
        reply?()
        reply = nil
      }
      if running.isEmpty, isStopping || (isFinishing && queue.isIdle) { break }
    }
    return queue.givenUpCount
  }

  private func note(
    _ end: End,
    of entry: HookQueue.Entry,
    in queue: inout HookQueue,
    isStopping: Bool
  ) {
    switch end {
    case .cleared:
      _ = queue.noteEnd(of: entry, isSuccess: true, isMarked: false, at: .now)
    case .marked:
      _ = queue.noteEnd(of: entry, isSuccess: true, isMarked: true, at: .now)
    case .busy:
      queue.delay(entry, at: .now)
    case .failed(let reason):
      let outcome = queue.noteEnd(of: entry, isSuccess: false, isMarked: true, at: .now)
      guard case .repeated(let wait) = outcome, !isStopping else {
        Output.current.say("\(reason); \(Self.repetition(of: entry.hook))")
        return
      }
      let attempt = "\(queue.nextAttempt(of: entry)) of \(HookQueue.maximumAttempts)"
      Output.current.say("\(reason); attempt \(attempt) in \(WaitText.text(wait))")
    }
  }

  private func timer(_ signal: Signal, at instant: ContinuousClock.Instant) -> Task<Void, Never> {
    Task { [signals] in
      // A cancelled sleep sends nothing.
      guard (try? await Task.sleep(until: instant)) != nil else { return }
      signals.yield(signal)
    }
  }

  /// The marks of at most `limit` records for each hook; those of a record are together, the command
  /// before the webhook.
  private func entries(atMost limit: Int) -> [HookQueue.Entry] {
    // The raw value of a webhook begins with that of the command.
    let hooks = actions.hooks.sorted { $0.rawValue < $1.rawValue }
    do {
      return try hooks.flatMap { hook in
        try records(awaiting: hook, limit).flatMap { record in
          hooks.filter { record.pendingHooks.contains($0) }
            .map { HookQueue.Entry(recordID: record.id, key: record.endKey, hook: $0) }
        }
      }
    } catch {
      Output.current.say("the pending hooks cannot be read: \(error)")
      return []
    }
  }

  private func records(awaiting hook: DownloadHook, _ limit: Int) throws -> [DownloadRecord] {
    switch scope {
    case .all:
      return try store.records(awaiting: hook, limit: limit)
    case .few(let urls):
      let known = try store.objects.read { tx in try tx.find(DownloadRecord.self, keys: urls) }
      let pending = known.lazy.compactMap { $0 }.filter { $0.pendingHooks.contains(hook) }
      return Array(pending.prefix(limit))
    case .many(let urls):
      return try store.records(awaiting: hook, limit: limit, where: urls.contains)
    }
  }

  /// Runs a hook unless another process runs one for the download, and clears its mark if it succeeds.
  ///
  /// - Parameter entry: The hook.
  /// - Returns: How the run ended.
  private func run(_ entry: HookQueue.Entry) async -> End {
    // The process that runs the hook may not have the engine lock any more.
    let lock = StoreRangeLock(ofHooksFor: entry.recordID, storePath: store.path)
    defer { lock?.release() }
    guard lock?.take() ?? true else { return .busy }
    guard let record = try? store.record(matching: entry.recordID) else { return .marked }
    guard record.endKey == entry.key, record.pendingHooks.contains(entry.hook) else {
      return .cleared
    }
    if let reason = await perform(entry, record) { return .failed(reason) }
    do {
      try await store.finishHook(entry.hook, of: record)
      return .cleared
    } catch {
      Output.current.say(
        "the hook of \(TerminalText.safe(record.filename)) has run, but this cannot be stored "
          + "(\(error)); \(Self.repetition(of: entry.hook))"
      )
      return .marked
    }
  }

  /// Runs the command, or posts the record.
  ///
  /// - Returns: What went wrong; `nil` if it has succeeded.
  private func perform(_ entry: HookQueue.Entry, _ record: DownloadRecord) async -> String? {
    let name = TerminalText.safe(record.filename)
    let failed = "\(Self.option(of: entry.hook)) failed for \(name): "
    do {
      let download = DownloadEntry(record, try store.roots())
      let json = RecordJSON.value(of: download).text + "\n"
      if entry.hook.isWebhook {
        let reason = await actions.webhook?.post(json, entry.hook, key: entry.key)
        return reason.map { failed + $0 }
      }
      guard let command = actions.commands[entry.hook] else { return nil }
      var variables = [
        "DLSTORE_ID": record.id, "DLSTORE_KEY": entry.key, "DLSTORE_EVENT": entry.hook.rawValue,
        "DLSTORE_STORE": store.path,
      ]
      variables["DLSTORE_PATH"] = download.localPath
      let end = try await command.run(input: json, variables: variables)
      return end.isSuccess ? nil : "\(failed)the command \(end.description)"
    } catch {
      return failed + ((error as? CommandFailure)?.message ?? "\(error)")
    }
  }

  private static func option(of hook: DownloadHook) -> String {
    switch hook {
    case .completion: "--on-complete"
    case .failure: "--on-error"
    case .completionWebhook, .failureWebhook: "--webhook"
    }
  }

  /// Says which command runs a hook again: one with its option, also if no download is left to run.
  private static func repetition(of hook: DownloadHook) -> String {
    let option = "\(option(of: hook)) \(hook.isWebhook ? "URL" : "COMMAND")"
    return "\(SuggestedCommand.text("run \(option)")) repeats it"
  }
}

/// A flag that joins wake-ups which have not been noticed yet.
final class WakeFlag: Sendable {
  private let isSet = Atomic(false)

  /// Sets the flag; returns whether it was not set.
  func set() -> Bool { !isSet.exchange(true, ordering: .acquiringAndReleasing) }

  /// Clears the flag, before what has changed is read.
  func clear() { _ = isSet.exchange(false, ordering: .acquiringAndReleasing) }
}
