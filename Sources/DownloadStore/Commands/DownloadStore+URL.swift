internal import ObjectStore

extension DownloadStore {
  /// Gives a download another URL, as when a signed one has expired, and keeps what is downloaded.
  ///
  /// The record keeps its id, its bytes with their validator, its mirrors and its history. One that
  /// failed goes on; a transfer from the old URL ends. The next request asks the new URL for the
  /// rest, with the validator of what is there: a server that has another entity sends that whole.
  ///
  /// Header fields stay with the origin that they were given for: a URL of another origin gets none
  /// that ``Redaction`` hides. ``add(_:)`` with the new URL gives the record header fields for it.
  ///
  /// Durable on return.
  ///
  /// - Parameters:
  ///   - name: The URL that it has, its id, or the beginning of that.
  ///   - url: The URL that it gets.
  /// - Returns: The record as it is then, and whether it has changed.
  /// - Throws: ``DownloadStoreError`` with `invalidURL`, `unknownRecord`, `ambiguousID`, `urlTaken`
  ///   or `busy`; ``StoreError``. Nothing has changed then.
  /// - Complexity: O(log n) in the records.
  @discardableResult
  public func replaceURL(of name: String, with url: String) throws -> CommandOutcome {
    var update = RecordUpdate()
    update.url = url
    return try self.update(name, update)
  }

  /// Notes which origin the record's header fields were given for, before its URL changes.
  func keepOrigin(ofHeadersOf record: DownloadRecord, in tx: inout StoreTransaction) throws {
    guard record.hasHeaders, var headers = try tx.get(RequestHeaders.self, record.id),
      headers.origin == nil
    else { return }
    headers.origin = RecordIdentity.origin(of: record.url)
    try tx.upsert(headers)
  }

  /// Refuses a URL that the record cannot get now.
  func requireFree(
    _ url: String,
    for record: DownloadRecord,
    in tx: borrowing StoreTransaction
  ) throws {
    guard record.state != .finalizing else {
      throw DownloadStoreError(
        .busy,
        "'\(record.filename)' is just getting its name: try again in a moment"
      )
    }
    if let other = try tx.get(DownloadRecord.self, url) {
      throw DownloadStoreError(
        .urlTaken,
        "the URL '\(Redaction.url(url))' is that of another download, \(other.id)"
      )
    }
  }
}
