package import ObjectStore

/// The records that a purge of many will remove, in 16 bytes each.
///
/// A ``PurgePlan`` holds the records themselves. A list holds what recognizes a record that has
/// changed since.
///
/// ```swift
/// let list = try store.purgeList(DownloadRecord.where { $0.state == .completed }, withFiles: true)
/// for batch in list.batches { try store.purge(batch) }
/// ```
package struct PurgeList: Sendable {
  /// A part of a list, which one transaction removes.
  package struct Batch: Sendable {
    fileprivate let entries: ArraySlice<Entry>
    fileprivate let plan: PurgePlan
  }

  /// A record of the list.
  fileprivate struct Entry: Sendable {
    /// The record's id.
    let id: UInt64
    /// From the lowest bit: whether the partial and the finished file are removed, too, the state,
    /// and a hash of the properties that a purge compares.
    private let bits: UInt64

    init?(_ record: DownloadRecord, removesPartial: Bool, removesFinished: Bool) {
      guard RecordIdentity.isID(record.id), let id = UInt64(record.id, radix: 16),
        let state = DownloadState.allCases.firstIndex(of: record.state)
      else { return nil }
      self.id = id
      bits =
        (removesPartial ? 1 : 0) | (removesFinished ? 2 : 0) | UInt64(state) << 2
        | record.purgeHash << 6
    }

    var idText: String {
      let digits = String(id, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }

    var removesPartial: Bool { bits & 1 != 0 }
    var removesFinished: Bool { bits & 2 != 0 }
    var state: DownloadState { DownloadState.allCases[Int(bits >> 2 & 15)] }

    /// Whether the record has not changed except for its progress.
    func describes(_ record: DownloadRecord) -> Bool {
      state == record.state && bits >> 6 == record.purgeHash & (1 << 58 - 1)
    }
  }

  /// The usual ``batchSize``.
  package static let standardBatchSize = 16_384

  /// The number of records that one transaction removes.
  package var batchSize = Self.standardBatchSize

  private var entries: [Entry] = []
  /// The records whose id has another form, which only another program can have given them.
  private var others = PurgePlan()
  /// The number of files.
  package private(set) var fileCount = 0
  private var exactByteCount: Int128 = 0

  /// The number of records that are kept; see ``PurgePlan/unreachableRecords``.
  package private(set) var unreachableCount = 0

  /// The number of records.
  package var count: Int { entries.count + others.records.count }
  /// The total size of the files in bytes, clamped to `Int64.max`.
  package var byteCount: Int64 { Int64(clamping: exactByteCount) }

  fileprivate mutating func append(_ plan: PurgePlan) {
    unreachableCount += plan.unreachableRecords.count
    fileCount += plan.files.count
    exactByteCount += plan.files.reduce(0) { $0 + Int128($1.size) }
    for record in plan.records {
      let entry = Entry(
        record,
        removesPartial: plan.files.contains { $0.role == .partial },
        removesFinished: plan.files.contains { $0.role == .finished }
      )
      if let entry {
        entries.append(entry)
      } else {
        others.records.append(record)
        others.files += plan.files
      }
    }
  }

  /// The parts of the list, in its order.
  package var batches: some Sequence<Batch> {
    let list = stride(from: 0, to: entries.count, by: batchSize).lazy.map { start in
      Batch(
        entries: entries[start..<min(start + batchSize, entries.count)],
        plan: PurgePlan()
      )
    }
    let rest = others.records.isEmpty ? [] : [Batch(entries: [], plan: others)]
    return [AnySequence(list), AnySequence(rest)].lazy.joined()
  }
}

/// The result of purging a part of a list.
package struct PurgeListReport: Sendable {
  /// A record that was kept because it changed after the list was made.
  package struct SkippedRecord: Sendable, Hashable {
    /// The record's id.
    package var id: String
    /// The record's state in the list.
    package var state: DownloadState
    /// The current record; `nil` if another process removed it.
    package var current: DownloadRecord?

    /// Creates a skipped record.
    package init(id: String, state: DownloadState, current: DownloadRecord?) {
      self.id = id
      self.state = state
      self.current = current
    }
  }

  /// What was removed, and what was kept although it had not changed since the list was made.
  package var report: PurgeReport
  /// The records that were kept because they changed after the list was made.
  package var skippedRecords: [SkippedRecord]
}

extension RecordStore {
  /// Lists the removal of the records of a query with their files.
  ///
  /// Changes nothing. Reads one snapshot.
  ///
  /// - Parameters:
  ///   - query: The records. Their partial files are removed with them.
  ///   - isIncluded: A further condition.
  ///   - withFiles: Whether finished files are removed too, if they are still the downloaded ones.
  ///   - body: Called with the plan of each record.
  /// - Returns: The list, for ``purge(_:)-(PurgeList.Batch)``.
  /// - Throws: ``RecordStoreError`` with `missingRoot`; `StoreError`; the error of `body`.
  /// - Complexity: As `ObjectReader.forEach`, and two `lstat` for each record. Uses 16 bytes
  ///   of memory for each.
  package func purgeList(
    _ query: Query<DownloadRecord>,
    where isIncluded: (DownloadRecord) -> Bool = { _ in true },
    withFiles: Bool,
    _ body: (PurgePlan) throws -> Void = { _ in }
  ) throws -> PurgeList {
    let roots = try roots()
    var list = PurgeList()
    try objects.read { tx in
      try tx.forEach(query) { record in
        guard isIncluded(record) else { return true }
        let plan = try purgePlan([record], withFiles: withFiles, roots)
        list.append(plan)
        try body(plan)
        return true
      }
    }
    return list
  }

  /// Removes the records of a part of a list in one transaction, then their files.
  ///
  /// As ``purge(_:)-(PurgePlan)``: a record that changed after the list was made is kept.
  ///
  /// - Throws: ``RecordStoreError`` with `missingRoot`; `StoreError`.
  @discardableResult
  package func purge(_ batch: PurgeList.Batch) throws -> PurgeListReport {
    let roots = try roots()
    var plan = batch.plan
    var skipped: [PurgeListReport.SkippedRecord] = []
    let current = try objects.read { tx in try tx.records(withIDs: batch.entries.map(\.idText)) }
    for entry in batch.entries {
      let id = entry.idText
      guard let record = current[id], entry.describes(record) else {
        skipped.append(.init(id: id, state: entry.state, current: current[id]))
        continue
      }
      plan.records.append(record)
      let layout = try roots.layout(of: record)
      if entry.removesPartial, let identity = FileIdentity(ofFileAt: layout.partialPath) {
        plan.files.append(.init(layout.partialPath, identity, .partial, record))
      }
      if entry.removesFinished, let identity = record.ownFileIdentity {
        plan.files.append(.init(layout.finalPath, identity, .finished, record))
      }
    }
    let report = try purge(plan)
    skipped += report.skippedRecords.map {
      .init(id: $0.record.id, state: $0.record.state, current: $0.current)
    }
    return PurgeListReport(report: report, skippedRecords: skipped)
  }
}

extension PurgePlan.File {
  fileprivate init(
    _ path: String,
    _ fileIdentity: FileIdentity,
    _ role: Role,
    _ record: DownloadRecord
  ) {
    self.init(path: path, fileIdentity: fileIdentity, role: role, record: record.id)
  }
}

extension DownloadRecord {
  /// A hash of the properties, other than the state, that do not change with progress.
  fileprivate var purgeHash: UInt64 {
    var hasher = Hasher()
    hasher.combine(generation)
    hasher.combine(intent)
    hasher.combine(isHeld)
    hasher.combine(startsImmediately)
    hasher.combine(tags)
    hasher.combine(keys)
    hasher.combine(destination)
    // A list has no other record of the file that it found.
    hasher.combine(ownFileIdentity)
    return UInt64(truncatingIfNeeded: hasher.finalize()) & (1 << 58 - 1)
  }
}
