internal import Foundation
internal import ObjectStore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension DownloadStore {
  /// Says what removing `records` removes from the disk: their partial files, and with `withFiles`
  /// the finished ones that are provably ours.
  ///
  /// - Throws: ``DownloadStoreError`` with `missingRoot`; ``StoreError``.
  public func purgePlan(_ records: [DownloadRecord], withFiles: Bool) throws -> PurgePlan {
    let roots = try roots()
    var plan = PurgePlan(records: records)
    for record in records {
      let layout = try roots.layout(of: record)
      if let stamp = FileStamp(ofFileAt: layout.partialPath) {
        plan.files.append(
          PurgePlan.File(path: layout.partialPath, stamp: stamp, role: .partial, record: record.id)
        )
      }
      if withFiles, let stamp = FileStamp(ofFileAt: layout.finalPath), stamp == record.stamp {
        plan.files.append(
          PurgePlan.File(path: layout.finalPath, stamp: stamp, role: .finished, record: record.id)
        )
      }
    }
    return plan
  }

  /// Finds the partial files below the roots that belong to this store and to no record of it.
  ///
  /// Only names with this store's id are looked at: other stores may have files in the same folders.
  /// Links are not followed, and a file that changed in the last `grace` seconds is left alone: its
  /// record may just be made.
  ///
  /// - Throws: ``StoreError``.
  public func orphanPlan(graceSeconds grace: Int64 = 60) throws -> PurgePlan {
    let roots = try roots()
    let oldest = Int64(now().timeIntervalSince1970) - grace
    var plan = PurgePlan()
    var paths = Set(roots.paths.values)
    if let standard = roots.path(of: RootName.standard) { paths.insert(standard) }
    // One root may lie in another.
    let files = Set(paths.flatMap { FolderWalk.files(below: $0) })
    try objects.read { tx in
      for file in files.sorted() {
        guard let text = file.split(separator: "/").last, let name = PartialName(String(text)),
          name.storeID == nil || name.storeID == id,
          let stamp = FileStamp(ofFileAt: file), stamp.modified / 1_000_000_000 < oldest,
          try !tx.hasRecord(withID: name.recordID)
        else { continue }
        guard name.storeID == id else {
          plan.unattributedPaths.append(file)
          continue
        }
        plan.files.append(
          PurgePlan.File(path: file, stamp: stamp, role: .orphan, record: name.recordID)
        )
      }
    }
    return plan
  }

  /// Carries out a plan: the records first, in one transaction, then the files.
  ///
  /// A record that was changed since the plan was made, as by a resume while a user was asked, stays
  /// with its files. So does a file that another process is using: an engine that is downloading
  /// one of the records stops when it sees that it is gone, and deletes the file. A finished file,
  /// or one without a record, that has changed since the plan was made is left alone.
  ///
  /// A kill between the records and the files leaves partial files without a record, which
  /// ``orphanPlan(graceSeconds:)`` finds.
  ///
  /// - Returns: What was removed, and what was left and why.
  /// - Throws: ``StoreError``.
  @discardableResult
  public func purge(_ plan: PurgePlan) throws -> PurgeReport {
    var report = PurgeReport()
    if !plan.records.isEmpty {
      (report.records, report.skippedRecords) = try objects.write { tx in
        var removed: [DownloadRecord] = []
        var skipped: [PurgeReport.SkippedRecord] = []
        for record in plan.records {
          let current = try tx.first(DownloadRecord.where { $0.id == record.id })
          guard let current, current.isAsPlanned(record) else {
            skipped.append(PurgeReport.SkippedRecord(record: record, current: current))
            continue
          }
          try tx.delete(DownloadRecord.self, current.url)
          try tx.delete(RequestHeaders.self, current.id)
          removed.append(current)
        }
        return (removed, skipped)
      }
    }
    let removed = Set(report.records.map(\.id))
    for file in plan.files where file.role == .orphan || removed.contains(file.recordID) {
      if let reason = try delete(file) {
        report.keptFiles.append(PurgeReport.KeptFile(file: file, reason: reason))
      } else {
        report.files.append(file)
      }
    }
    return report
  }

  /// Deletes a file of a plan, and returns why it was left; `nil` when it is gone.
  private func delete(_ file: PurgePlan.File) throws -> PurgeReport.KeptFile.Reason? {
    do {
      switch file.role {
      case .finished:
        guard let stamp = FileStamp(ofFileAt: file.path) else { return nil }
        guard stamp == file.stamp else { return .changed }
        guard unsafe unlink(file.path) == 0 || errno == ENOENT else {
          throw LockedFile.Refusal.failed(errno)
        }
      case .partial:
        _ = try LockedFile.delete(file.path)
      case .orphan:
        // Under the lock: an engine that downloads a record of that id meanwhile has to wait.
        let isDeleted = try LockedFile.delete(file.path) { locked in
          try locked.stamp == file.stamp
            && !objects.read { tx in try tx.hasRecord(withID: file.recordID) }
        }
        if !isDeleted { return .changed }
      }
      return nil
    } catch let refusal as LockedFile.Refusal {
      switch refusal {
      case .missing: return nil
      case .locked: return .inUse
      case .notOurs, .failed: return .failed(refusal.description)
      }
    }
  }
}

extension DownloadRecord {
  /// Whether nothing that a user or an engine decided about the record has changed since `planned`.
  ///
  /// The number of bytes received may differ.
  fileprivate func isAsPlanned(_ planned: DownloadRecord) -> Bool {
    id == planned.id && generation == planned.generation && state == planned.state
      && intent == planned.intent && isHeldByHand == planned.isHeldByHand
      && startsAtOnce == planned.startsAtOnce && tags == planned.tags
      && destination == planned.destination
  }
}

extension ObjectReader where Self: ~Copyable {
  fileprivate func hasRecord(withID id: String) throws -> Bool {
    try exists(DownloadRecord.where { $0.id == id })
  }
}
