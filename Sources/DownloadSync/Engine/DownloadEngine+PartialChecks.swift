internal import DownloadStore
internal import Logging
internal import ObjectStore

// Partial files that another program has changed: they are read beside the loop, a part at a time.

extension DownloadEngine {
  /// Begins to read partial files, as many as may be read at a time.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func beginChecks() async throws {
    while let entry = checks.next() {
      let digests = try await store.objects.read { [id = entry.key.recordID] tx in
        try tx.find(PieceDigests.self, key: id)
      }
      if let part = checks.begin(entry, with: digests) {
        read(part, of: entry)
      } else {
        try await finish(entry, counting: ByteRanges())
      }
    }
  }

  private func read(_ part: PieceCheck.Part, of entry: PartialChecks.Entry) {
    environment.startLongWork { [inbox, url = entry.key.url, number = entry.number] in
      let result = Result { () throws(FileReadError) in try part.read() }
      inbox.post(.partialRead(url: url, number: number, result))
    }
  }

  /// Handles what was found in a part of a file: reads the next part, or finishes the check.
  ///
  /// - Parameters:
  ///   - result: What was found.
  ///   - url: The URL of the download.
  ///   - number: The number of the check.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func noteRead(
    _ result: Result<PieceReport, FileReadError>,
    of url: String,
    number: Int
  ) async throws {
    guard let check = checks.note(result, of: url, number: number), let entry = checks[url] else {
      return
    }
    if let part = check.next { return read(part, of: entry) }
    try await finish(entry, counting: check.correct, check.temporaryFailure)
  }

  /// Commits which bytes of a file count, or that it could not be read for now, and returns its
  /// download to the queue.
  ///
  /// Has no effect on a record that was changed by a command in the meantime, or whose file was
  /// changed again: it is reconciled, and read once more before it continues.
  private func finish(
    _ entry: PartialChecks.Entry,
    counting correct: ByteRanges,
    _ failure: DownloadFailure? = nil
  ) async throws {
    checks.remove(entry.key.url)
    // The engine offers a record of another generation to the queue when it reads the change.
    guard let record = try await current(entry.key.url), entry.key.matches(record) else { return }
    if let failure { return try await commit(AttemptEnd(of: record, failure)) }
    let found = Reconciliation(
      of: record,
      in: locations.roots,
      now: now(),
      policy: policy.afterWait
    )
    log("checked pieces", record, ["correct": "\(correct)"])
    try await execute(
      [found],
      counting: found.partialIdentity == entry.identity ? [record.id: correct] : [:]
    )
  }
}
