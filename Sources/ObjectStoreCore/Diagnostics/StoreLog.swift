internal import LMDB
internal import Logging
internal import SystemInterface

/// Writes the log messages of one store value.
///
/// Messages are constant strings, so that they can be searched for; details are in the metadata. No
/// message contains a value of an object.
package final class StoreLog: Sendable {
  private struct State {
    var mapSize: Int?
    var clearedReaders = 0
    var nextReaderCheck: ContinuousClock.Instant
    var usedSize = 0
    var scans: Set<Scan> = []
  }

  /// The model and fields of a scan, which is reported only once.
  private struct Scan: Hashable {
    var model: String
    var fields: [String]
  }

  /// The number of objects that a query may scan without a warning.
  static let scanWarningThreshold = 10_000
  /// The number of commits after a snapshot from which on its reader counts as slow.
  static let slowReaderAge: UInt64 = 1_000
  static let readerCheckInterval = Duration.seconds(30)

  private let logger: Logger
  /// The state last reported.
  ///
  /// The lock is never held while the logger is called.
  private let state: Mutex<State>

  init(_ logger: Logger, now: ContinuousClock.Instant = .now) {
    self.logger = logger
    state = Mutex(State(nextReaderCheck: now + Self.readerCheckInterval))
  }

  // MARK: Opening

  func didOpen(
    _ environment: Environment,
    models: [String],
    isReadOnly: Bool,
    since start: ContinuousClock.Instant
  ) {
    let statistics = try? environment.statistics()
    state.withLock { state in
      state.mapSize = statistics?.mapSize
      state.usedSize = statistics?.usedSize ?? 0
    }
    logger.debug(
      "opened the store",
      metadata: [
        "path": "\(environment.path)",
        "models": "\(models.joined(separator: ", "))",
        "isReadOnly": "\(isReadOnly)",
        "duration": "\(start.duration(to: .now))",
      ]
    )
    logClearedReaders(environment)
  }

  func didCompact(_ path: String, bytes: Int64) {
    logger.debug("compacted the store", metadata: ["path": "\(path)", "bytes": "\(bytes)"])
  }

  func didFailToCompact(_ path: String, _ error: any Error) {
    logger.notice("did not compact the store", metadata: ["path": "\(path)", "reason": "\(error)"])
  }

  func didFindLaterVersion(_ path: String, stored: UInt32, own: UInt32) {
    logger.notice(
      "opened the store read-only: a later version of the program wrote it",
      metadata: ["path": "\(path)", "storedVersion": "\(stored)", "ownVersion": "\(own)"]
    )
  }

  func didChangeSchema(version: UInt32, epoch: UInt64) {
    logger.debug(
      "changed the stored schema",
      metadata: ["version": "\(version)", "epoch": "\(epoch)"]
    )
  }

  func didBuildIndex(of model: String, fields: [String], duration: Duration) {
    logger.debug(
      "built an index",
      metadata: [
        "model": "\(model)",
        "fields": "\(fields.joined(separator: ", "))",
        "duration": "\(duration)",
      ]
    )
  }

  /// Logs a migration with steps.
  package func didMigrate(
    _ path: String,
    from: UInt32,
    to: UInt32,
    objects: Int,
    since start: ContinuousClock.Instant
  ) {
    logger.notice(
      "migrated a store",
      metadata: [
        "path": "\(path)",
        "from": "\(from)",
        "to": "\(to)",
        "objects": "\(objects)",
        "milliseconds": "\(start.duration(to: .now) / .milliseconds(1))",
      ]
    )
  }

  /// Logs that an index is complete that was built in the background.
  func didBuildIndex(of model: String, fieldIDs: [UInt32], objects: UInt64) {
    logger.debug(
      "built an index in the background",
      metadata: [
        "model": "\(model)",
        "fields": "\(fieldIDs)",
        "objects": "\(objects)",
      ]
    )
  }

  /// Logs that the objects of a model are stored in their new form.
  func didConvert(_ model: String, _ objectCount: UInt64) {
    logger.debug(
      "converted the objects of a model",
      metadata: ["model": "\(model)", "objects": "\(objectCount)"]
    )
  }

  /// Logs that objects will only be converted, and indexes built, when the store is opened again.
  func didFailInBackground(_ error: any Error) {
    logger.warning(
      "failed to convert objects or to build indexes in the background",
      metadata: ["error": "\(error)"]
    )
  }

  // MARK: Writing

  /// Logs a resize of the map and cleared reader slots, which beginning a write can cause.
  ///
  /// Checks for slow readers once per ``readerCheckInterval``, and warns only if the file has grown
  /// since the previous check.
  func didBeginWrite(_ environment: Environment, now: ContinuousClock.Instant = .now) {
    guard let statistics = try? environment.statistics() else { return }
    let (old, isCheckDue, hasGrown) = state.withLock { state in
      let old = state.mapSize
      state.mapSize = statistics.mapSize
      guard now >= state.nextReaderCheck else { return (old, false, false) }
      state.nextReaderCheck = now + Self.readerCheckInterval
      let hasGrown = statistics.usedSize > state.usedSize
      state.usedSize = statistics.usedSize
      return (old, true, hasGrown)
    }
    if let old, old < statistics.mapSize {
      logger.debug(
        "enlarged the memory map",
        metadata: ["oldSize": "\(old)", "newSize": "\(statistics.mapSize)"]
      )
    }
    logClearedReaders(environment)
    guard isCheckDue, hasGrown else { return }
    let slow = environment.snapshotReaders(asOf: statistics.lastTransactionID)
      .filter { $0.ageInCommits >= Self.slowReaderAge }
    guard let oldest = slow.first else { return }
    logger.warning(
      "a slow reader makes the file grow",
      metadata: [
        "readers": "\(slow.count)",
        "processID": "\(oldest.processID)",
        "ageInCommits": "\(oldest.ageInCommits)",
        "fileSize": "\(statistics.usedSize)",
      ]
    )
  }

  private func logClearedReaders(_ environment: Environment) {
    let all = environment.clearedReaderCount
    let new = state.withLock { state in
      defer { state.clearedReaders = all }
      return all - state.clearedReaders
    }
    guard new > 0 else { return }
    logger.debug("cleared the reader slots of dead processes", metadata: ["readers": "\(new)"])
  }

  func didCommitTogether(_ count: Int, durability: Durability) {
    guard count > 1 else { return }
    logger.debug(
      "writes shared a commit",
      metadata: ["writes": "\(count)", "durability": "\(durability)"]
    )
  }

  package func didImport(lines: Int, inserted: Int, updated: Int, danglingReferences: Int) {
    logger.debug(
      "imported objects",
      metadata: [
        "lines": "\(lines)",
        "inserted": "\(inserted)",
        "updated": "\(updated)",
        "danglingReferences": "\(danglingReferences)",
      ]
    )
  }

  // MARK: Reading

  /// Warns about a query that scanned many objects, once per model and set of fields.
  func didScan(_ objects: Int, of model: String, fields: [String], sorts: Bool) {
    let scan = Scan(model: model, fields: fields)
    guard state.withLock({ $0.scans.insert(scan).inserted }) else { return }
    logger.warning(
      "a query scanned many objects: an index may be missing",
      metadata: [
        "model": "\(model)",
        "fields": "\(fields.joined(separator: ", "))",
        "objects": "\(objects)",
        "sorts": "\(sorts)",
      ]
    )
  }
}
