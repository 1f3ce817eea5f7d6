internal import ObjectStore

extension RecordStore {
  /// Returns the rate limit of the store, in bytes per second; `nil` if there is none.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: O(1).
  public func rateLimit() throws -> Int64? {
    try objects.read { tx in try tx.find(EngineSettings.self, key: EngineSettings.standardName) }
      .flatMap { RecordLimits.isRate($0.bytesPerSecond) ? $0.bytesPerSecond : nil }
  }

  /// Sets the rate limit of all transfers of the store together.
  ///
  /// A running engine, also one in another process, applies it at once, and each later one when it
  /// starts. A transport may have a limit of its own: the lower one counts. Durable on return.
  ///
  /// ```swift
  /// try store.setRateLimit(2 << 20)  // 2 MiB/s
  /// try store.setRateLimit(nil)      // No limit.
  /// ```
  ///
  /// - Parameter bytesPerSecond: The limit, from 1; `nil` for none.
  /// - Throws: ``RecordStoreError`` with `invalidRecord` for a limit below 1; `StoreError`.
  public func setRateLimit(_ bytesPerSecond: Int64?) throws {
    guard RecordLimits.isRate(bytesPerSecond) else {
      throw RecordStoreError(.invalidRecord, "a rate limit must be above zero")
    }
    try objects.write { tx in
      let settings = EngineSettings(
        name: EngineSettings.standardName,
        bytesPerSecond: bytesPerSecond
      )
      _ = try tx.upsert(settings)
    }
  }
}

extension EngineSettings {
  /// The name of the only object.
  package static let standardName = "default"
}
