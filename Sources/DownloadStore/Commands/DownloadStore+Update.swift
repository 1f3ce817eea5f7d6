internal import ObjectStore

extension DownloadStore {
  /// Changes what is said of a download, in one transaction; a file that has its name gets the new
  /// one with the record, or neither changes.
  ///
  /// While the change is written, the finished file has both names, so that after a kill the one
  /// in the record is there. A download that is not complete ends under its new name. A finished
  /// file that is gone, or not ours any more, is left alone, and the record changes.
  ///
  /// Durable on return.
  ///
  /// - Parameters:
  ///   - name: The URL, the id, or the beginning of one.
  ///   - update: What is to be different.
  /// - Returns: The record as it is then, and whether it has changed.
  /// - Throws: ``DownloadStoreError`` with `unknownRecord`, `ambiguousID`, `nameTaken`,
  ///   `invalidURL`, `urlTaken`, `busy`, `fileSystem` or `missingRoot`; ``StoreError``. Nothing has
  ///   changed then.
  /// - Complexity: O(log n) in the records.
  @discardableResult
  public func update(_ name: String, _ update: RecordUpdate) throws -> CommandOutcome {
    if let url = update.url { try RecordIdentity.validate(url) }
    let roots = try roots()
    let moment = now()
    var rename: ExclusiveRename?
    let outcome: CommandOutcome
    do {
      outcome = try objects.write { tx in
        let known = try tx.liveRecord(named: name)
        var record = known
        update.apply(to: &record)
        let newURL = update.newURL(of: known)
        // Before the file is touched.
        if let newURL { try requireFree(newURL, for: known, in: tx) }
        if let filename = update.newFilename(of: known) {
          rename = try setFilename(filename, of: &record, roots, in: &tx)
        }
        guard newURL != nil || record != known else {
          return CommandOutcome(name: name, effect: .unchanged(known))
        }
        record.updatedAt = moment
        if let newURL {
          try keepOrigin(ofHeadersOf: known, in: &tx)
          record.move(to: newURL)
          try tx.delete(DownloadRecord.self, known.url)
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

  /// Changes the name in the record, and begins to rename its finished file if that is ours.
  private func setFilename(
    _ filename: String,
    of record: inout DownloadRecord,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws -> ExclusiveRename? {
    guard record.state != .finalizing else {
      throw DownloadStoreError(
        .busy,
        "'\(record.filename)' is just getting its name: try again in a moment"
      )
    }
    let old = try roots.layout(of: record)
    // Whatever the state: an engine may be about to say that it is complete.
    let isOurs = FileInspection(of: record, in: old).final == .ours
    guard try take(filename, for: &record, roots, in: &tx) else {
      throw DownloadStoreError(.nameTaken, "another download or a file has the name '\(filename)'")
    }
    guard isOurs else { return nil }
    let new = try roots.layout(of: record)
    do throws(ExclusiveRename.Failure) {
      return try ExclusiveRename(from: old.finalPath, to: new.finalPath)
    } catch {
      throw DownloadStoreError(
        error == .nameTaken ? .nameTaken : .fileSystem,
        "'\(old.finalPath)' cannot get the name '\(filename)': \(error)"
      )
    }
  }
}

extension ObjectReader where Self: ~Copyable {
  /// The record of a name, unless it is about to go.
  func liveRecord(named name: String) throws -> DownloadRecord {
    let record = try record(named: name).get()
    guard record.state != .removed else { throw DownloadStoreError.unknownRecord(name) }
    return record
  }
}
