internal import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension DownloadStore {
  /// Has downloads stand still, and keep what there is.
  ///
  /// As ``grant(_:to:)``.
  @discardableResult
  public func pause(_ selection: RecordSelection) throws -> [CommandOutcome] {
    try apply(.pause, to: selection)
  }

  /// Has downloads go on with what there is, their failures forgotten.
  ///
  /// As ``grant(_:to:)``.
  ///
  /// - Parameters:
  ///   - selection: Which.
  ///   - immediately: Whether they start before all others, if need be in the place of those that have
  ///     run longest.
  /// - Returns: What became of each.
  /// - Throws: ``StoreError``.
  @discardableResult
  public func resume(
    _ selection: RecordSelection,
    immediately: Bool = false
  ) throws -> [CommandOutcome] {
    try apply(.resume(immediately: immediately), to: selection)
  }

  /// Gives downloads up: what is downloaded goes, the records stay.
  ///
  /// As ``grant(_:to:)``.
  @discardableResult
  public func cancel(_ selection: RecordSelection) throws -> [CommandOutcome] {
    try apply(.cancel, to: selection)
  }

  /// Has downloads begin from nothing, complete ones too.
  ///
  /// As ``grant(_:to:)``. A finished file stays until the new one takes its place.
  @discardableResult
  public func restart(_ selection: RecordSelection) throws -> [CommandOutcome] {
    try apply(.restart, to: selection)
  }

  /// Forgets downloads: what is downloaded and the records go.
  ///
  /// As ``grant(_:to:)``.
  ///
  /// - Parameters:
  ///   - selection: Which.
  ///   - withFile: Whether finished files go too, those that are provably ours.
  /// - Returns: What became of each.
  /// - Throws: ``StoreError``.
  @discardableResult
  public func remove(
    _ selection: RecordSelection,
    withFile: Bool = false
  ) throws -> [CommandOutcome] {
    try apply(.remove(withFile: withFile), to: selection)
  }

  /// Writes a wish into the records of a selection, in one transaction.
  ///
  /// An engine of this or another process is woken by the commit and follows it. Without one,
  /// records that are to be cancelled or removed stay, as `removed` or with the intent `keep`,
  /// until an engine runs or reconciles. Names that are not known do not keep the others from
  /// being dealt with.
  ///
  /// Durable on return.
  ///
  /// - Returns: What became of each: in the order in which they were named; of a tag or of
  ///   everything, those alone in whose state the wish can change something.
  /// - Throws: ``StoreError``.
  /// - Complexity: O(k log n) for k records that are looked at and n in the store.
  @discardableResult
  public func apply(
    _ command: DownloadCommand,
    to selection: RecordSelection
  ) throws -> [CommandOutcome] {
    let moment = now()
    return try objects.write { tx in
      guard case .named(let names) = selection else {
        let found = try selection.predicate(command.states).map { try tx.fetch(Query($0)) } ?? []
        return try found.map { record in
          CommandOutcome(name: record.url, effect: try apply(command, record, at: moment, in: &tx))
        }
      }
      return try names.map { name in
        let effect: CommandOutcome.Effect
        switch try tx.record(named: name) {
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
  /// Whether it is to forget the download, which may be said again of one that is about to go.
  fileprivate var isRemoval: Bool {
    if case .remove = self { true } else { false }
  }
}
