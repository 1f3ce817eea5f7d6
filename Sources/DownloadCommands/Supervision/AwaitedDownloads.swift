internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// The downloads for which a command of a user waits, whichever process runs them.
struct AwaitedDownloads {
  let store: RecordStore
  let limits: EngineLimits
  let display: DisplayOptions
  var hooks: HookOptions?
  /// The downloads as the command has requested them; empty if their state at the start is of no interest.
  var requested: [DownloadRecord] = []
  /// Whether the command waits for the engine of another process.
  var waits = true
  /// Says which of the files that the user gave have no credentials for a URL.
  var missingCredentials: @Sendable (String) -> String? = { _ in nil }
  /// Says what the user can do about a failure; `nil` for the commands of `dlstore`.
  var advice: @Sendable (DownloadFailure) -> String? = { _ in nil }

  /// Says which options do not apply, because an engine with its own ones runs all downloads.
  static func warnOfOtherOptions(
    in store: RecordStore,
    _ limits: EngineLimits,
    _ hooks: HookOptions,
    _ display: DisplayOptions
  ) {
    let names = limits.client.ownNames + limits.fileNames + hooks.names
    guard !display.quiet, !names.isEmpty,
      let holder = EngineLock.holderForAll(storePath: store.path)
    else { return }
    Output.current.say(
      "\(holder) runs all downloads of \(store.path) with its own options: "
        + "\(names.joined(separator: ", ")) of this command \(names.count == 1 ? "does" : "do") not apply"
    )
  }

  /// Runs downloads, or waits for the engine of another process that does.
  ///
  /// - Parameters:
  ///   - urls: The URLs of the downloads.
  ///   - ended: Those that had already ended.
  ///   - piped: The download whose bytes go to standard output; `nil` for none.
  /// - Returns: How the run ended, and whether its bytes were written.
  /// - Throws: ``EngineError``; `StoreError`; ``ClosedPipe``.
  func run(
    _ urls: Set<StoredText>,
    ended: Set<StoredText> = [],
    _ piped: PipedDownload? = nil
  ) async throws -> (EngineSetup.End, isWritten: Bool) {
    let names = urls.map(\.text).sorted()
    let setup = try EngineSetup(
      store: store,
      limits: limits,
      display: display,
      hooks: hooks,
      scope: names,
      isAwaited: true,
      isPiped: piped != nil,
      missingCredentials: missingCredentials,
      advice: advice
    )
    // Another process may have removed some of them.
    let selection = RecordSelection.matching(
      try store.records(withURLs: names).map(\.url)
    )
    var downloads = store.downloads(
      selection,
      transport: setup.transport,
      options: setup.options,
      every: .milliseconds(100)
    )
    downloads.waits = waits
    downloads.known = requested
    downloads.logger = setup.display.logger
    downloads.leading = setup.leading
    let isNoticed = waits && !ended.isSuperset(of: urls)
    let following = Task { [downloads] in
      try await setup.display.follow(downloads, ended: ended) { leader in
        isNoticed ? notice(of: leader) : nil
      }
    }
    let writing = piped.map { piped in
      Task {
        do {
          try await piped.write()
        } catch {
          // A download that has failed ends by itself, and its failure is shown.
          if !piped.hasEnded { following.cancel() }
          throw error
        }
      }
    }
    let stop: @Sendable () -> Void = {
      following.cancel()
      writing?.cancel()
    }
    let (end, (last, isWritten)) = try await setup.run(stop: stop) {
      let result = await following.result
      let record = try? result.get()?.records.first
      var isWritten = true
      if let writing { isWritten = try await PipedDownload.finish(writing, of: record) }
      return (try result.get(), isWritten)
    }
    if end.signal != nil, !display.quiet {
      Output.current.say(
        last?.leader == nil ? EngineSession.stopped : "stopped waiting; the other engine goes on"
      )
    }
    guard end.signal == nil, piped == nil, hooks?.isEmpty == false else {
      return (end, isWritten)
    }
    let records = try store.records(withURLs: names)
    let over = Set(records.filter(\.needsCommand).map { StoredText($0.url) })
    guard records.count > over.count else { return (end, isWritten) }
    // A command has restarted some of them after the engine had ended.
    var (next, _) = try await run(urls, ended: over)
    next.failedHooks += end.failedHooks
    return (next, isWritten)
  }

  /// Says what the engine of another process means for these downloads.
  private func notice(of leader: String) -> String {
    let runs = "another engine runs on \(store.path): \(leader); "
    let names = limits.client.ownNames + (hooks?.names ?? [])
    guard names.isEmpty || EngineLock.holderForAll(storePath: store.path) != nil else {
      return runs + "waiting for it, because this command runs its downloads itself with "
        + "\(names.joined(separator: ", ")) (Ctrl-C ends the waiting, --no-wait does not wait)"
    }
    let others = limits.fileNames
    let without =
      others.isEmpty
      ? "" : "without \(others.joined(separator: " and ")) of this command, "
    return runs
      + "it runs these downloads, \(without)and this command shows them (Ctrl-C ends only this "
      + "command, --no-wait exits at once)"
  }
}

extension RecordStore {
  /// Returns the records with some URLs; those that were removed are missing.
  ///
  /// - Throws: `StoreError`.
  func records(withURLs urls: [String]) throws -> [DownloadRecord] {
    try objects.read { tx in try tx.find(DownloadRecord.self, keys: urls).compactMap { $0 } }
  }
}
