internal import ObjectStore

extension RecordStore {
  /// Returns downloads that have ended and whose hook has not succeeded yet.
  ///
  /// Only ends that were committed by an engine whose `EngineOptions.hooks` contain the hook are
  /// marked. The mark is committed together with the end, so a kill loses none.
  ///
  /// - Parameters:
  ///   - hook: The hook.
  ///   - limit: The maximum number of records.
  /// - Returns: The records, in no particular order.
  /// - Throws: `StoreError`.
  /// - Complexity: O(k log n) for k returned records of n in the store.
  public func records(
    awaiting hook: DownloadHook,
    limit: Int = .max
  ) throws -> [DownloadRecord] {
    try objects.read { tx in
      try tx.fetch(DownloadRecord.where { $0.pendingHooks.contains(hook) }.limit(limit))
    }
  }

  /// Returns those of ``records(awaiting:limit:)`` whose URLs satisfy a condition.
  ///
  /// - Parameters:
  ///   - hook: The hook.
  ///   - limit: The maximum number of records that are returned.
  ///   - isIncluded: The condition, which is called for pending records only.
  /// - Returns: The records, in no particular order.
  /// - Throws: `StoreError`.
  /// - Complexity: O(k log n) for k pending records of n in the store.
  package func records(
    awaiting hook: DownloadHook,
    limit: Int,
    where isIncluded: (_ url: String) -> Bool
  ) throws -> [DownloadRecord] {
    guard limit > 0 else { return [] }
    var records: [DownloadRecord] = []
    try objects.read { tx in
      try tx.forEach(DownloadRecord.where { $0.pendingHooks.contains(hook) }) { record in
        if isIncluded(record.url) { records.append(record) }
        return records.count < limit
      }
    }
    return records
  }

  /// Notes that a hook has succeeded, so that it is not run again for this end of the download.
  ///
  /// Has no effect if the record was removed or started again since. Runs on a background thread, and
  /// is durable on return.
  ///
  /// - Parameters:
  ///   - hook: The hook.
  ///   - record: The record for which it ran.
  /// - Returns: Whether the hook was pending.
  /// - Throws: `StoreError`.
  @discardableResult
  public func finishHook(_ hook: DownloadHook, of record: DownloadRecord) async throws -> Bool {
    try await inBackground { [self] in try finishHookNow(hook, of: record) }
  }

  /// Notes that a hook has succeeded, as ``finishHook(_:of:)`` does, on the calling thread.
  package func finishHookNow(_ hook: DownloadHook, of record: DownloadRecord) throws -> Bool {
    try objects.write { tx in
      let found = try tx.first(DownloadRecord.where { $0.id == record.id })
      guard var stored = found, stored.endKey == record.endKey,
        stored.pendingHooks.contains(hook)
      else { return false }
      stored.finishHook(hook)
      try tx.upsert(stored)
      return true
    }
  }
}
