internal import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension RecordStore {
  /// Pauses downloads; keeps the bytes on disk.
  ///
  /// Applies ``DownloadCommand/pause``; see ``apply(_:to:)``. Durable on return.
  ///
  /// - Parameter selection: The downloads.
  /// - Returns: The outcome for each download.
  /// - Throws: ``StoreError``.
  @discardableResult
  public func pause(_ selection: RecordSelection) throws -> [CommandOutcome] {
    try apply(.pause, to: selection)
  }

  /// Resumes downloads from the bytes on disk, and clears their failure counts.
  ///
  /// Applies ``DownloadCommand/resume(immediately:)``; see ``apply(_:to:)``. Durable on return.
  ///
  /// - Parameters:
  ///   - selection: The downloads.
  ///   - immediately: Whether they start before all others, and preempt the downloads that have run
  ///     longest if no slot is free.
  /// - Returns: The outcome for each download.
  /// - Throws: ``StoreError``.
  @discardableResult
  public func resume(
    _ selection: RecordSelection,
    immediately: Bool = false
  ) throws -> [CommandOutcome] {
    try apply(.resume(immediately: immediately), to: selection)
  }

  /// Cancels downloads: deletes partial files, keeps the records.
  ///
  /// Applies ``DownloadCommand/cancel``; see ``apply(_:to:)``. Durable on return; an engine deletes
  /// the files afterwards.
  ///
  /// - Parameter selection: The downloads.
  /// - Returns: The outcome for each download.
  /// - Throws: ``StoreError``.
  @discardableResult
  public func cancel(_ selection: RecordSelection) throws -> [CommandOutcome] {
    try apply(.cancel, to: selection)
  }

  /// Restarts downloads from the first byte, including completed ones.
  ///
  /// Applies ``DownloadCommand/restart``; see ``apply(_:to:)``. A finished file stays until the new
  /// one replaces it. Durable on return.
  ///
  /// - Parameter selection: The downloads.
  /// - Returns: The outcome for each download.
  /// - Throws: ``StoreError``.
  @discardableResult
  public func restart(_ selection: RecordSelection) throws -> [CommandOutcome] {
    try apply(.restart, to: selection)
  }

  /// Removes downloads: deletes partial files and records.
  ///
  /// Applies ``DownloadCommand/remove(withFile:)``; see ``apply(_:to:)``. Durable on return; an
  /// engine deletes the files and the records afterwards. To delete them without an engine, use
  /// ``purge(_:)``.
  ///
  /// - Parameters:
  ///   - selection: The downloads.
  ///   - withFile: Whether finished files are deleted too, if they are still the downloaded ones.
  /// - Returns: The outcome for each download.
  /// - Throws: ``StoreError``.
  @discardableResult
  public func remove(
    _ selection: RecordSelection,
    withFile: Bool = false
  ) throws -> [CommandOutcome] {
    try apply(.remove(withFile: withFile), to: selection)
  }

  /// Applies a command to the records of a selection, in one transaction.
  ///
  /// The commit notifies the engine, in this or another process, which carries the command out.
  /// Without an engine, cancelled records keep the intent `cancel` and removed records the state
  /// `removed`, with their files, until an engine runs or reconciles the store. An unknown name
  /// does not affect the others.
  ///
  /// Durable on return.
  ///
  /// ```swift
  /// let outcomes = try store.apply(.resume(immediately: true), to: .tagged("models"))
  /// print(outcomes.count(where: \.isDone), "downloads resumed")
  /// ```
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - selection: The downloads.
  /// - Returns: The outcomes. For named downloads, one per name, in the order of the names;
  ///   otherwise one per record in a state in which the command may have an effect.
  /// - Throws: ``StoreError``; nothing has changed then.
  /// - Complexity: O(k log n) for k selected records of n in the store.
  @discardableResult
  public func apply(
    _ command: DownloadCommand,
    to selection: RecordSelection
  ) throws -> [CommandOutcome] {
    let moment = now()
    return try objects.write { tx in
      guard case .matching(let names) = selection else {
        let found = try selection.filter(command.states).map { try tx.fetch(Query($0)) } ?? []
        return try found.map { record in
          CommandOutcome(name: record.url, effect: try apply(command, record, at: moment, in: &tx))
        }
      }
      return try names.map { name in
        let effect: CommandOutcome.Effect
        switch try tx.record(matching: name) {
        case .success(let record) where record.state == .removed && !command.isRemoval:
          effect = .unknown(.unknownRecord(name))
        case .success(let record): effect = try apply(command, record, at: moment, in: &tx)
        case .failure(let error): effect = .unknown(error)
        }
        return CommandOutcome(name: name, effect: effect)
      }
    }
  }

  private func apply(
    _ command: DownloadCommand,
    _ record: DownloadRecord,
    at moment: Date,
    in tx: inout StoreTransaction
  ) throws -> CommandOutcome.Effect {
    var changed = record.applying(command)
    guard changed != record else { return .unchanged(record) }
    changed.updatedAt = moment
    try tx.upsert(changed)
    return .done(changed)
  }
}

extension DownloadCommand {
  /// Whether the command removes the download; it then applies to records in state `removed` too.
  fileprivate var isRemoval: Bool {
    if case .remove = self { true } else { false }
  }
}
