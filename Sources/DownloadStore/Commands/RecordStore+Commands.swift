internal import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// The commands of the user. Each is one transaction, whose commit notifies the engine, in this or
// another process, which carries the command out. Without an engine, cancelled records keep the
// intent `cancel` and removed records the state `removed`, with their files, until an engine runs
// or reconciles the store.

extension RecordStore {
  /// Pauses downloads; keeps the bytes on disk.
  ///
  /// Works before, during and after an engine's run, in any process: the running engine acts within
  /// milliseconds. The transaction runs on a background thread, and is durable on return.
  ///
  /// ```swift
  /// try await store.pause(.tagged("models"))
  /// ```
  ///
  /// - Parameter selection: The downloads.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public func pause(_ selection: RecordSelection) async throws -> [CommandOutcome] {
    try await command(.pause, selection)
  }

  /// Resumes downloads from the bytes on disk, and clears their failure counts.
  ///
  /// Runs on a background thread, as ``pause(_:)``, and is durable on return.
  ///
  /// ```swift
  /// try await store.resume(.tagged("models"), immediately: true)
  /// ```
  ///
  /// - Parameters:
  ///   - selection: The downloads.
  ///   - immediately: Whether they start before all others, and preempt the downloads that have run
  ///     longest if no slot is free.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public func resume(
    _ selection: RecordSelection,
    immediately: Bool = false
  ) async throws -> [CommandOutcome] {
    try await command(.resume(immediately: immediately), selection)
  }

  /// Cancels downloads: deletes partial files, keeps the records.
  ///
  /// Runs on a background thread, as ``pause(_:)``, and is durable on return. The running engine
  /// deletes the files; without one, the next engine does.
  ///
  /// ```swift
  /// try await store.cancel(.matching("https://example.com/model.bin"))
  /// ```
  ///
  /// - Parameter selection: The downloads.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public func cancel(_ selection: RecordSelection) async throws -> [CommandOutcome] {
    try await command(.cancel, selection)
  }

  /// Restarts downloads from the first byte, including completed ones.
  ///
  /// A finished file stays until the new one replaces it. Runs on a background thread, as
  /// ``pause(_:)``, and is durable on return.
  ///
  /// ```swift
  /// try await store.restart(.tagged("nightly"))
  /// ```
  ///
  /// - Parameter selection: The downloads.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public func restart(_ selection: RecordSelection) async throws -> [CommandOutcome] {
    try await command(.restart, selection)
  }

  /// Asks whether the servers have newer versions of finished files, and downloads those that there are.
  ///
  /// The engine sends the validator of the finished file (`If-None-Match`, `If-Modified-Since`), so a
  /// server that has no newer version sends no body: the record is complete again, and its
  /// ``DownloadRecord/checkedAt`` is the time of the answer. The finished file stays until a newer
  /// version is complete, and replaces it in one step. If that fails for good, or is cancelled, the
  /// record is complete as before, and ``DownloadRecord/refreshFailure`` says why.
  ///
  /// A finished file that is missing or was changed is downloaded again, as by ``restart(_:)``.
  /// Downloads that are not complete, or whose file was adopted, are not changed. Runs on a background
  /// thread, as ``pause(_:)``, and is durable on return. Costs one `lstat` for each file.
  ///
  /// ```swift
  /// let mirror = RecordSelection.tagged("mirror")
  /// try await store.refresh(mirror)
  /// for try await _ in store.downloads(mirror, transport: transport) {}
  /// ```
  ///
  /// A digest for a newer version, as a changed checksum file states it, replaces the required one. A
  /// version without it is not accepted; if the server still has the earlier one, the refresh fails.
  /// A finished file whose digest of that algorithm is not known is read once for each call: if it has
  /// another digest, the server is asked for the file without a condition.
  /// The record then requires what it required before. The digests of pieces that a Metalink document
  /// required are forgotten. A download with a key keeps its digest.
  ///
  /// - Parameters:
  ///   - selection: The downloads.
  ///   - digest: Returns the digest that the current version of a file has; `nil` to keep the required
  ///     one. Called in the transaction.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`, or an error of the closure; nothing has changed then.
  @discardableResult
  public func refresh(
    _ selection: RecordSelection,
    requiring digest: @escaping @Sendable (DownloadRecord) throws -> Digest? = { _ in nil }
  ) async throws -> [CommandOutcome] {
    try await inBackground { [self] in
      try apply(.refresh, to: selection.targets, requiring: digest)
    }
  }

  /// Removes downloads: deletes partial files and records.
  ///
  /// Runs on a background thread, as ``pause(_:)``, and is durable on return. The running engine
  /// deletes the files and the records; without one, the next engine does. To delete them without
  /// an engine, use ``purge(_:)``.
  ///
  /// ```swift
  /// try await store.remove(.matching("https://example.com/model.bin"), withFile: true)
  /// ```
  ///
  /// - Parameters:
  ///   - selection: The downloads.
  ///   - withFile: Whether finished files are deleted too, if they are still the downloaded ones.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public func remove(
    _ selection: RecordSelection,
    withFile: Bool = false
  ) async throws -> [CommandOutcome] {
    try await command(.remove(withFile: withFile), selection)
  }

  private func command(
    _ command: DownloadCommand,
    _ selection: RecordSelection
  ) async throws -> [CommandOutcome] {
    try await inBackground { [self] in try apply(command, to: selection) }
  }

  /// Applies a command to the records of a selection, in one transaction on the calling thread.
  ///
  /// As ``apply(_:to:among:)-(_,CommandTargets,_)``.
  @discardableResult
  package func apply(
    _ command: DownloadCommand,
    to selection: RecordSelection
  ) throws -> [CommandOutcome] {
    try apply(command, to: selection.targets)
  }

  /// Applies a command to records, in one transaction on the calling thread.
  ///
  /// An unknown name does not affect the others. Durable on return.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - targets: The records.
  ///   - states: The states in which a record may be changed; `nil` for all.
  ///   - digest: Returns the digest that a refresh requires of a newer version; `nil` for the same.
  ///   - versions: The number of previous versions that the downloads keep from now on; `nil` to leave
  ///     it as it is.
  /// - Returns: The outcomes. For downloads given by name, one per name, in the order of the names;
  ///   otherwise one per record in a state in which the command may have an effect.
  /// - Throws: `StoreError`; nothing has changed then.
  /// - Complexity: For names, that of ``record(matching:)``, but the file names of all records are
  ///   compared at most once; for a condition, that of its query.
  @discardableResult
  package func apply(
    _ command: DownloadCommand,
    to targets: CommandTargets,
    among states: [DownloadState]? = nil,
    requiring digest: (DownloadRecord) throws -> Digest? = { _ in nil },
    keepingVersions versions: Int32? = nil
  ) throws -> [CommandOutcome] {
    let moment = now()
    let roots = command == .refresh ? try roots() : nil
    var files = ListedFiles()
    while true {
      do {
        return try objects.write { tx in
          let outcomes = try apply(
            command,
            to: targets,
            states,
            roots,
            digest,
            versions,
            &files,
            at: moment,
            in: &tx
          )
          try files.requireAll()
          return outcomes
        }
      } catch is ListedFiles.Unread {
        // Outside of the transaction: it may be large.
        files.read()
      }
    }
  }

  private func apply(
    _ command: DownloadCommand,
    to targets: CommandTargets,
    _ states: [DownloadState]?,
    _ roots: Roots?,
    _ digest: (DownloadRecord) throws -> Digest?,
    _ versions: Int32?,
    _ files: inout ListedFiles,
    at moment: Date,
    in tx: inout StoreTransaction
  ) throws -> [CommandOutcome] {
    try outcomes(of: command, targets, states, roots, at: moment, in: &tx) { changed, known, tx in
      var record = changed
      if let versions { record.keepVersions = versions }
      if command == .refresh, record.keys.isEmpty, let digest = try digest(record),
        digest.text != record.expectedDigest
      {
        if let roots, files.isOther(record, than: digest, roots) { record.forgetValidator() }
        record.requireOfNewerVersion(digest)
        if record.hasPieceDigests,
          try tx.find(PieceDigests.self, key: record.id)?.isRequired == true
        {
          // They are those of the finished file, which has another digest.
          record.forgetRequiredPieces()
        }
      }
      return try tx.store(record, after: known)
    }
  }

  /// Returns the outcomes that ``apply(_:to:among:)-(_,CommandTargets,_)`` would have now, and
  /// changes nothing.
  ///
  /// - Throws: `StoreError`.
  package func preview(
    _ command: DownloadCommand,
    of targets: CommandTargets,
    among states: [DownloadState]? = nil
  ) throws -> [CommandOutcome] {
    let moment = now()
    let roots = command == .refresh ? try roots() : nil
    return try objects.read { tx in
      try outcomes(of: command, targets, states, roots, at: moment, in: &tx) { changed, _, _ in
        changed
      }
    }
  }

  func outcomes<Reader: ObjectReader & ~Copyable>(
    of command: DownloadCommand,
    _ targets: CommandTargets,
    _ states: [DownloadState]?,
    _ roots: Roots?,
    at moment: Date,
    in tx: inout Reader,
    _ store: (_ changed: DownloadRecord, _ known: DownloadRecord, inout Reader) throws
      -> DownloadRecord
  ) throws -> [CommandOutcome] {
    func effect(on record: DownloadRecord, in tx: inout Reader) throws -> CommandOutcome.Effect {
      guard states?.contains(record.state) ?? true else { return .unchanged(record) }
      var changed = record
      var command = command
      if let roots, record.state == .completed, record.isRefreshable,
        FileInspection.final(of: record, in: roots.possibleLayout(of: record)) != .ours,
        FolderState(roots.possibleLayout(of: record).folderPath) == .present
      {
        // Nothing to keep if the server has no newer version. A file in a folder that is missing may
        // come back with it.
        command = .restart
      }
      guard try changed.apply(.command(command), at: moment).hasChanged else {
        return .unchanged(record)
      }
      return .done(try store(changed, record, &tx))
    }
    switch targets {
    case .matching(let condition):
      let effective = command.states.filter { states?.contains($0) ?? true }
      let found = try tx.fetch(Query(condition && DownloadRecord.columns.state.isIn(effective)))
      return try found.map { record in
        CommandOutcome(name: record.url, effect: try effect(on: record, in: &tx))
      }
    case .named(let names):
      var filenames = FilenameScan(for: names)
      return try names.map { name in
        switch try tx.record(matching: name, &filenames) {
        case .success(let record) where record.state == .removed && !command.isRemoval:
          CommandOutcome(name: name, effect: .unknown(.unknownRecord(name)))
        case .success(let record):
          CommandOutcome(name: name, effect: try effect(on: record, in: &tx))
        case .failure(let error): CommandOutcome(name: name, effect: .unknown(error))
        }
      }
    }
  }
}

extension DownloadCommand {
  /// Whether the command removes the download; it then applies to records in state `removed` too.
  fileprivate var isRemoval: Bool {
    if case .remove = self { true } else { false }
  }
}
