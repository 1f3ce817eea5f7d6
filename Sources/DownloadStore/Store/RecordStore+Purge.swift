internal import Foundation
internal import ObjectStore
internal import SystemInterface

extension RecordStore {
  /// Plans the removal of records with their files.
  ///
  /// Changes nothing; pass the plan to ``purge(_:)``.
  ///
  /// - Parameters:
  ///   - records: The records. Their partial files are removed with them.
  ///   - withFiles: Whether finished files are removed too, if they are still the downloaded ones.
  /// - Returns: The plan, for a preview and for ``purge(_:)``.
  /// - Throws: ``RecordStoreError`` with `missingRoot`; `StoreError`.
  public func purgePlan(_ records: [DownloadRecord], withFiles: Bool) throws -> PurgePlan {
    try purgePlan(records, withFiles: withFiles, roots())
  }

  func purgePlan(
    _ records: [DownloadRecord],
    withFiles: Bool,
    _ roots: Roots
  ) throws -> PurgePlan {
    var plan = PurgePlan()
    for record in records {
      let layout = try roots.layout(of: record)
      if withFiles, record.ownFileIdentity != nil, layout.folderProblem != nil {
        plan.unreachableRecords.append(record)
        continue
      }
      plan.records.append(record)
      // A file outside the root is not ours, whatever the record says.
      guard layout.isBelowRoot else { continue }
      if let fileIdentity = FileIdentity(ofFileAt: layout.partialPath) {
        plan.files.append(
          PurgePlan.File(
            path: layout.partialPath,
            fileIdentity: fileIdentity,
            role: .partial,
            record: record.id
          )
        )
      }
      guard withFiles else { continue }
      if let fileIdentity = FileIdentity(ofFileAt: layout.finalPath),
        fileIdentity == record.ownFileIdentity
      {
        plan.files.append(
          PurgePlan.File(
            path: layout.finalPath,
            fileIdentity: fileIdentity,
            role: .finished,
            record: record.id
          )
        )
      } else if let path = record.keptFilePath(in: layout) {
        plan.foreignPaths.append(path)
      }
    }
    return plan
  }

  /// Finds this store's partial files below the roots that no download uses: their records are gone, or
  /// complete.
  ///
  /// A complete download can have one if the repair of its file was killed, or if the system refused to
  /// remove the old name of its file, which then has two.
  ///
  /// Only names with this store's id count, because other stores may share the folders. Symbolic
  /// links are not followed. Files that changed in the last `graceSeconds` are skipped, because
  /// their download may be starting.
  ///
  /// ```swift
  /// let plan = try store.orphanPlan()
  /// for file in plan.files { print(file.path, file.size) }
  /// try store.purge(plan)
  /// ```
  ///
  /// - Parameter grace: The minimum time since the last change of a file, in seconds.
  /// - Returns: The plan, for a preview and for ``purge(_:)``.
  /// - Throws: `StoreError`.
  public func orphanPlan(graceSeconds grace: Int64 = 60) throws -> PurgePlan {
    let roots = try roots()
    let oldest = Int64(now().timeIntervalSince1970) - grace
    var plan = PurgePlan()
    // Folders are compared by their bytes, as the file system compares them.
    let paths = Set(roots.allWithTemporary.map { StoredText($0.path) })
    // One root may be inside another.
    let files = Set(paths.flatMap { FolderWalk.files(below: $0.text).map(StoredText.init) })
    try objects.read { tx in
      for file in files.sorted().map(\.text) {
        let text = file.split(separator: "/").last.map(String.init) ?? ""
        guard let name = PartialName(text) ?? PartialName(ofCopy: text),
          name.storeID == id,
          let fileIdentity = FileIdentity(ofFileAt: file),
          fileIdentity.modified / 1_000_000_000 < oldest,
          try !tx.usesPartialFile(of: name.recordID)
        else { continue }
        plan.files.append(
          PurgePlan.File(
            path: file,
            fileIdentity: fileIdentity,
            role: .orphan,
            record: name.recordID
          )
        )
      }
    }
    return plan
  }

  /// Executes a plan: removes the records in one transaction, then the files.
  ///
  /// A record whose finished file is removed stays until the file is gone, as a removed download: after
  /// a kill, or if the file cannot be deleted, an engine or another purge deletes both.
  ///
  /// A record that changed after the plan was made, for example resumed during a prompt, is kept
  /// with its files. A file that another process is using is kept too; an engine that is
  /// downloading one of the records deletes the file when it notices the removal. A finished file
  /// or orphan that changed after the plan was made is kept.
  ///
  /// After a kill between the records and the files, ``orphanPlan(graceSeconds:)`` finds the
  /// leftover partial files. The removal of the records is durable on return.
  ///
  /// - Returns: The removed and the kept records and files.
  /// - Throws: `StoreError`.
  @discardableResult
  public func purge(_ plan: PurgePlan) throws -> PurgeReport {
    var report = try removeRecords(of: plan)
    var removed = Set(report.records.map(\.id))
    for file in plan.files where file.role == .orphan || removed.contains(file.recordID) {
      if let reason = try delete(file) {
        report.keptFiles.append(PurgeReport.KeptFile(file: file, reason: reason))
      } else {
        report.files.append(file)
      }
    }
    syncFolders(of: &report)
    let kept = Set(report.keptFiles.filter(\.keepsRecord).map(\.file.recordID))
    removed.subtract(kept)
    report.records.removeAll { kept.contains($0.id) }
    try forgetRecords(of: plan, removed)
    return report
  }

  /// Syncs the folders of the deleted files, so that after a power cut none is back without a record.
  ///
  /// A file whose folder cannot be synced counts as kept.
  private func syncFolders(of report: inout PurgeReport) {
    func folder(of file: PurgePlan.File) -> StoredText {
      StoredText(parentFolder(of: file.path))
    }
    for path in Set(report.files.map(folder)).sorted() {
      do {
        try FolderSync.run(path.text)
      } catch {
        let reason = PurgeReport.KeptFile.Reason.failed("its deletion cannot be synced: \(error)")
        let files = report.files.filter { folder(of: $0) == path }
        report.keptFiles += files.map { PurgeReport.KeptFile(file: $0, reason: reason) }
        report.files.removeAll { folder(of: $0) == path }
      }
    }
  }

  /// Removes the records of a plan, except those with a finished file to remove, which become removed
  /// downloads.
  func removeRecords(of plan: PurgePlan) throws -> PurgeReport {
    var report = PurgeReport()
    guard !plan.records.isEmpty else { return report }
    let (owners, moment) = (plan.fileOwners, now())
    (report.records, report.skippedRecords) = try objects.write { tx in
      // Read before the first deletion: a query stores the deferred changes of the indexes.
      let current = try tx.records(withIDs: plan.records.map(\.id))
      var removed: [DownloadRecord] = []
      var skipped: [PurgeReport.SkippedRecord] = []
      for record in plan.records {
        guard var current = current[record.id], current.isAsPlanned(record) else {
          let current = current[record.id]
          skipped.append(PurgeReport.SkippedRecord(record: record, current: current))
          continue
        }
        removed.append(current)
        if owners.contains(current.id) {
          try current.apply(.command(.remove(withFile: true)), at: moment)
          try tx.upsert(current)
        } else {
          try tx.delete(DownloadRecord.self, key: current.url)
          try tx.deleteDetails(of: current)
        }
      }
      return (removed, skipped)
    }
    return report
  }

  /// Removes the records whose finished files are gone.
  private func forgetRecords(of plan: PurgePlan, _ removed: Set<String>) throws {
    let owners = plan.fileOwners.intersection(removed)
    guard !owners.isEmpty else { return }
    try objects.write { tx in
      for record in try tx.records(withIDs: owners.sorted()).values where record.state == .removed {
        try tx.delete(DownloadRecord.self, key: record.url)
        try tx.deleteDetails(of: record)
      }
    }
  }

  /// Deletes a file of a plan; returns the reason if it was kept, `nil` if it was deleted.
  private func delete(_ file: PurgePlan.File) throws -> PurgeReport.KeptFile.Reason? {
    do {
      switch file.role {
      case .finished:
        guard let fileIdentity = FileIdentity(ofFileAt: file.path) else { return nil }
        guard fileIdentity == file.fileIdentity else { return .changed }
        guard unlink(file.path) == 0 || errno == ENOENT else {
          throw LockedFile.Refusal.failed(errno)
        }
      case .partial:
        _ = try LockedFile.delete(file.path)
      case .orphan:
        // Under the lock, an engine that starts a record of that id has to wait.
        let isDeleted = try LockedFile.delete(file.path) { locked in
          try locked.fileIdentity == file.fileIdentity
            && !objects.read { tx in try tx.usesPartialFile(of: file.recordID) }
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

extension PurgePlan {
  /// The ids of the records whose finished files are removed.
  fileprivate var fileOwners: Set<String> {
    Set(files.filter { $0.role == .finished }.map(\.recordID))
  }
}

extension DownloadRecord {
  /// The path of the finished file, if what is there is not the downloaded file, so that removing the
  /// record keeps it; `nil` if there is nothing, if the path cannot be examined, or if the record has
  /// never had a finished file.
  ///
  /// Costs one `lstat`.
  package func keptFilePath(in layout: FileLayout) -> String? {
    guard let known = fileIdentity ?? ownFileIdentity else { return nil }
    switch PathExamination(layout.finalPath) {
    case .missing, .failed: return nil
    case .file(known, _): return known == foreignFileIdentity ? layout.finalPath : nil
    case .file, .other: return layout.finalPath
    }
  }

  /// Whether the record equals `planned` except for its progress.
  fileprivate func isAsPlanned(_ planned: DownloadRecord) -> Bool {
    id == planned.id && generation == planned.generation && state == planned.state
      && intent == planned.intent && isHeld == planned.isHeld
      && startsImmediately == planned.startsImmediately && tags == planned.tags
      && keys == planned.keys && destination == planned.destination
  }
}

extension ObjectReader where Self: ~Copyable {
  /// Returns the records with the given ids, by id.
  func records(withIDs ids: [String]) throws -> [String: DownloadRecord] {
    var records: [String: DownloadRecord] = [:]
    try forEach(DownloadRecord.where { $0.id.isIn(ids) }) { record in
      records[record.id] = record
      return true
    }
    return records
  }

  /// Whether a download may continue from its partial file.
  fileprivate func usesPartialFile(of id: String) throws -> Bool {
    try exists(DownloadRecord.where { $0.id == id && $0.state != .completed })
  }
}
