internal import ObjectStore

extension RecordStore {
  /// Changes the properties of a download, in one transaction, and renames its finished file.
  ///
  /// Either both the record and the finished file get the new name, or neither does. During the
  /// transaction the finished file has both names, so that after a kill it exists under the name in
  /// the record; file systems without hard links do not guarantee this. An unfinished download gets
  /// the new name when it completes. A finished file that is missing, or no longer the downloaded
  /// one, is not renamed; the record changes nevertheless.
  ///
  /// Runs on a background thread, and is durable on return.
  ///
  /// - Parameters:
  ///   - name: The URL, the id, a unique id prefix, or a unique file name.
  ///   - update: The changes.
  /// - Returns: The new record and whether it has changed.
  /// - Throws: ``RecordStoreError`` with `unknownRecord` or `ambiguousID`; with `invalidRecord` for a
  ///   rate, a number of connections, a period or a date that is out of range; with `invalidTag`; with
  ///   `invalidURL` or `urlTaken` for a new URL; with `nameTaken`, `fileSystem` or `missingRoot` for a
  ///   new name; with `busy` while the finished file is being renamed; `StoreError`. Nothing has changed
  ///   then.
  /// - Complexity: That of ``record(matching:)``.
  @discardableResult
  public func update(
    matching name: String,
    with update: RecordUpdate
  ) async throws -> CommandOutcome {
    try await inBackground { [self] in try updateNow(matching: name, with: update) }
  }

  /// Changes the properties of a download as ``update(matching:with:)`` does, on the calling
  /// thread.
  @discardableResult
  package func updateNow(
    matching name: String,
    with update: RecordUpdate
  ) throws -> CommandOutcome {
    if let url = update.url { try RecordIdentity.validate(url) }
    try update.validate()
    let roots = try roots()
    let moment = now()
    var rename: ExclusiveRename?
    let outcome: CommandOutcome
    do {
      outcome = try objects.write { tx in
        let known = try tx.liveRecord(matching: name)
        var record = known
        update.apply(to: &record)
        let newURL = update.newURL(of: known)
        // Checked before the file is renamed.
        if let newURL { try requireFree(newURL, for: known, in: tx) }
        let filename = update.newFilename(of: known)
        if let filename {
          rename = try setFilename(filename, of: &record, roots, in: &tx)
        }
        guard newURL != nil || filename != nil || record != known else {
          return CommandOutcome(name: name, effect: .unchanged(known))
        }
        record.updatedAt = moment
        if let newURL {
          try record.apply(.moved(to: newURL), at: moment)
          try tx.delete(DownloadRecord.self, key: known.url)
          try tx.insert(record)
        } else {
          try tx.upsert(record)
        }
        return CommandOutcome(name: name, effect: .done(record))
      }
    } catch {
      rename?.revert()
      throw error
    }
    rename?.finish()
    return outcome
  }

  /// Changes the name in the record, and begins to rename the finished file.
  ///
  /// - Returns: The rename, which the caller finishes or reverts; `nil` if the finished file is
  ///   missing or not the downloaded one.
  private func setFilename(
    _ filename: String,
    of record: inout DownloadRecord,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws -> ExclusiveRename? {
    guard record.state != .finalizing else {
      throw RecordStoreError(
        .busy,
        "'\(record.filename)' is being renamed: try again in a moment"
      )
    }
    let old = try roots.layout(of: record)
    // In any state: the file may be in place although the record is not `completed` yet, or be the
    // previous one of a restarted or refreshed download.
    let files = FileInspection(of: record, in: old)
    let replacesOwn = files.replaced.map { $0 != record.foreignFileIdentity } ?? false
    let isOurs = files.final == .ours || replacesOwn
    guard try take(filename, for: &record, roots, in: &tx) else {
      throw RecordStoreError(
        .nameTaken,
        "'\(filename)' is already taken by a download or a file in the same folder"
      )
    }
    guard isOurs else { return nil }
    let new = try roots.layout(of: record)
    do throws(ExclusiveRename.Failure) {
      return try ExclusiveRename(from: old.finalPath, to: new.finalPath)
    } catch {
      throw RecordStoreError(
        error == .nameTaken ? .nameTaken : .fileSystem,
        "'\(old.finalPath)' cannot be renamed to '\(filename)': \(error)"
      )
    }
  }
}

extension ObjectReader where Self: ~Copyable {
  /// Returns the record with a URL, an id, a unique id prefix or a unique file name, unless it is
  /// being removed.
  func liveRecord(matching name: String) throws -> DownloadRecord {
    let record = try record(matching: name).get()
    guard record.state != .removed else { throw RecordStoreError.unknownRecord(name) }
    return record
  }
}
