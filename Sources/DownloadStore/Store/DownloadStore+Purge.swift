internal import Foundation
internal import ObjectStore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What a purge removes, before it does.
public struct PurgePlan: Sendable, Hashable {
  /// A file that is removed.
  public struct File: Sendable, Hashable {
    /// Its path.
    public var path: String
    /// What it frees, in bytes.
    public var size: Int64 { stamp.size }
    /// What it was known by when the plan was made.
    var stamp: FileStamp
    /// Whether it goes even if it has changed since: it is the partial file of a record that goes.
    var isOwned = false
  }

  /// The records.
  public var records: [DownloadRecord] = []
  /// The files.
  public var files: [File] = []

  /// What the files free together, in bytes; at most `Int64.max`, which sparse files can exceed.
  public var freedBytes: Int64 {
    Int64(clamping: files.reduce(0 as Int128) { $0 + Int128($1.size) })
  }
}

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
        plan.files.append(PurgePlan.File(path: layout.partialPath, stamp: stamp, isOwned: true))
      }
      if withFiles, let stamp = FileStamp(ofFileAt: layout.finalPath), stamp == record.stamp {
        plan.files.append(PurgePlan.File(path: layout.finalPath, stamp: stamp))
      }
    }
    return plan
  }

  /// Finds the partial files below the roots whose record is gone.
  ///
  /// Only names that hold a record's id are looked at, links are not followed, and a file that
  /// changed in the last `grace` seconds is left alone: its record may just be made.
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
        guard let name = file.split(separator: "/").last,
          let id = FileLayout.recordID(ofPartialNamed: String(name)),
          let stamp = FileStamp(ofFileAt: file), stamp.modified / 1_000_000_000 < oldest,
          try tx.first(DownloadRecord.where { $0.id == id }) == nil
        else { continue }
        plan.files.append(PurgePlan.File(path: file, stamp: stamp))
      }
    }
    return plan
  }

  /// Carries out a plan: the records first, in one transaction, then the files.
  ///
  /// A kill in between leaves partial files without a record, which ``orphanPlan(graceSeconds:)``
  /// finds. An engine that is downloading one of the records stops when it sees that it is gone. A
  /// finished file, or one without a record, that has changed since the plan was made is left alone.
  ///
  /// - Returns: The files that were not removed.
  /// - Throws: ``StoreError``.
  @discardableResult
  public func purge(_ plan: PurgePlan) throws -> [PurgePlan.File] {
    if !plan.records.isEmpty {
      try objects.write { tx in
        for record in plan.records {
          try tx.delete(DownloadRecord.self, record.url)
          try tx.delete(RequestHeaders.self, record.id)
        }
      }
    }
    return plan.files.filter { file in
      guard let stamp = FileStamp(ofFileAt: file.path) else { return false }
      guard file.isOwned || stamp == file.stamp else { return true }
      return unsafe unlink(file.path) != 0 && errno != ENOENT
    }
  }
}
