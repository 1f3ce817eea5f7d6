internal import LMDB
internal import Logging
internal import Synchronization

/// Tells the program's logger what one store value does.
///
/// Messages are constant, so that they can be searched for; no value of an object is ever told.
final class StoreLog: Sendable {
  private struct State {
    var mapSize: Int?
    var clearedReaders = 0
    var nextReaderCheck: ContinuousClock.Instant
    var usedSize = 0
    var scans: Set<Scan> = []
  }

  /// What makes a scan known already.
  private struct Scan: Hashable {
    var model: String
    var fields: [String]
  }

  /// So many objects a query may look at unmentioned.
  static let longestQuietScan = 10_000
  /// A reader that so many commits came after is slow.
  static let slowReaderAge: UInt64 = 1_000
  static let readerCheckInterval = Duration.seconds(30)

  private let logger: Logger
  /// Held to compare with what was last told, never while telling.
  private let state: Guarded<State>

  init(_ logger: Logger, now: ContinuousClock.Instant = .now) {
    self.logger = logger
    state = Guarded(State(nextReaderCheck: now + Self.readerCheckInterval))
  }

  // MARK: Opening

  func didOpen(
    _ environment: Environment,
    models: [String],
    isReadOnly: Bool,
    since start: ContinuousClock.Instant
  ) {
    let facts = try? environment.statistics()
    state.withLock { state in
      state.mapSize = facts?.mapSize
      state.usedSize = facts?.usedSize ?? 0
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
    noteClearedReaders(environment)
  }

  func didCompact(_ path: String, bytes: Int64) {
    logger.debug("compacted the store", metadata: ["path": "\(path)", "bytes": "\(bytes)"])
  }

  func didNotCompact(_ path: String, _ error: any Error) {
    logger.notice("did not compact the store", metadata: ["path": "\(path)", "reason": "\(error)"])
  }

  func didFindLaterVersion(_ path: String, stored: UInt32, own: UInt32) {
    logger.notice(
      "opened the store for reading alone: a later version has written it",
      metadata: ["path": "\(path)", "storedVersion": "\(stored)", "ownVersion": "\(own)"]
    )
  }

  func didChangeSchema(version: UInt32, epoch: UInt64) {
    logger.debug(
      "changed what the store says of its models",
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

  // MARK: Writing

  /// Looks for what the beginning of a write may have done, and now and then for slow readers.
  func didBeginWrite(_ environment: Environment, now: ContinuousClock.Instant = .now) {
    guard let facts = try? environment.statistics() else { return }
    let (old, isCheckDue, hasGrown) = state.withLock { state in
      let old = state.mapSize
      state.mapSize = facts.mapSize
      guard now >= state.nextReaderCheck else { return (old, false, false) }
      state.nextReaderCheck = now + Self.readerCheckInterval
      let hasGrown = facts.usedSize > state.usedSize
      state.usedSize = facts.usedSize
      return (old, true, hasGrown)
    }
    if let old, old < facts.mapSize {
      logger.debug(
        "enlarged the map",
        metadata: ["oldSize": "\(old)", "newSize": "\(facts.mapSize)"]
      )
    }
    noteClearedReaders(environment)
    guard isCheckDue, hasGrown else { return }
    let slow = environment.snapshotReaders(asOf: facts.lastTransactionID)
      .filter { $0.ageInCommits >= Self.slowReaderAge }
    guard let oldest = slow.first else { return }
    logger.warning(
      "a reader keeps the file growing",
      metadata: [
        "readers": "\(slow.count)",
        "processID": "\(oldest.processID)",
        "ageInCommits": "\(oldest.ageInCommits)",
        "fileSize": "\(facts.usedSize)",
      ]
    )
  }

  private func noteClearedReaders(_ environment: Environment) {
    let all = environment.clearedReaderCount
    let new = state.withLock { state in
      defer { state.clearedReaders = all }
      return all - state.clearedReaders
    }
    guard new > 0 else { return }
    logger.debug("freed slots of readers whose process is gone", metadata: ["readers": "\(new)"])
  }

  func didCommitTogether(_ count: Int, durability: Durability) {
    guard count > 1 else { return }
    logger.debug(
      "writes shared a commit",
      metadata: ["writes": "\(count)", "durability": "\(durability)"]
    )
  }

  func didImport(_ report: ImportReport) {
    logger.debug(
      "imported objects",
      metadata: [
        "lines": "\(report.lines)",
        "inserted": "\(report.inserted)",
        "updated": "\(report.updated)",
        "danglingReferences": "\(report.danglingReferenceCount)",
      ]
    )
  }

  // MARK: Reading

  /// Tells of a query that looked at so many objects, once for the fields that it looked at.
  func didScan(_ objects: Int, of model: String, fields: [String], sorts: Bool) {
    let scan = Scan(model: model, fields: fields)
    guard state.withLock({ $0.scans.insert(scan).inserted }) else { return }
    logger.warning(
      "a query looked at every object: an index may be missing",
      metadata: [
        "model": "\(model)",
        "fields": "\(fields.joined(separator: ", "))",
        "objects": "\(objects)",
        "sorts": "\(sorts)",
      ]
    )
  }
}

extension ModelReader {
  /// Tells the store's log of a query that looked at so many objects, when that is much and an
  /// index could have helped.
  func noteScan(_ objects: Int, _ core: QueryCore) {
    guard objects > StoreLog.longestQuietScan, let log = unsafe tables.log else { return }
    let tables = unsafe tables
    let positions = core.node.positions.union(core.order.columns.map(\.position))
    guard !tables.indexes.isEmpty, !positions.isEmpty else { return }
    log.didScan(
      objects,
      of: tables.name,
      fields: positions.sorted().map { tables.fieldName(at: $0) ?? "field \($0)" },
      sorts: !core.order.columns.isEmpty
    )
  }
}
