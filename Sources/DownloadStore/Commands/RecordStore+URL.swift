internal import ObjectStore

extension RecordStore {
  /// Replaces the URL of a download, for example an expired signed link, and keeps the bytes on
  /// disk.
  ///
  /// The record keeps its id, its bytes with their validator, its mirrors and its failed attempts.
  /// A failed download is queued again; a transfer from the old URL ends. The next request asks the
  /// new URL for the missing bytes if the entity is the same (`If-Range`); otherwise the server
  /// sends the new entity from its first byte. Resume data is dropped, because it contains the old
  /// URL.
  ///
  /// Header fields stay with the origin that they were given for: a URL at another origin gets none
  /// that may contain a secret. To give the record header fields for the new origin, call
  /// ``add(_:)`` with the new URL.
  ///
  /// Runs on a background thread, and is durable on return.
  ///
  /// ```swift
  /// let failed = try store.records(DownloadRecord.where { $0.state == .failedPermanent })
  /// for record in failed where record.attempts.last?.failure.code == .needsURL {
  ///   try await store.replaceURL(matching: record.id, with: signedURL(for: record.filename))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The current URL, the id, a unique id prefix, or a unique file name.
  ///   - url: The new URL.
  /// - Returns: The new record and whether it has changed.
  /// - Throws: ``RecordStoreError`` with `invalidURL`, `unknownRecord`, `ambiguousID`,
  ///   `urlTaken`, or `busy` while the finished file is being renamed; `StoreError`. Nothing has
  ///   changed then.
  /// - Complexity: That of ``record(matching:)``.
  @discardableResult
  public func replaceURL(
    matching name: String,
    with url: String
  ) async throws -> CommandOutcome {
    try await inBackground { [self] in try replaceURLNow(matching: name, with: url) }
  }

  /// Replaces the URL of a download as ``replaceURL(matching:with:)`` does, on the calling thread.
  @discardableResult
  package func replaceURLNow(matching name: String, with url: String) throws -> CommandOutcome {
    var update = RecordUpdate()
    update.url = url
    return try updateNow(matching: name, with: update)
  }

  /// Throws if the record cannot get the URL: its file is being renamed, or another record has the
  /// URL, perhaps as a key.
  func requireFree(
    _ url: String,
    for record: DownloadRecord,
    in tx: borrowing StoreTransaction
  ) throws {
    guard record.state != .finalizing else {
      throw RecordStoreError(
        .busy,
        "'\(record.filename)' is being renamed: try again in a moment"
      )
    }
    if let other = try tx.record(withURLOrKey: url), other.id != record.id {
      let name = other.keys.contains(url) ? "key" : "URL"
      throw RecordStoreError(
        .urlTaken,
        "another download, \(other.id), has the \(name) '\(Redaction.url(url))'"
      )
    }
  }
}
