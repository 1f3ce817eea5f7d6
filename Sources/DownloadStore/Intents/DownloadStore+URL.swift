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
  public func replaceURL(of name: String, with url: String) throws -> WishOutcome {
    try RecordIdentity.validate(url)
    let moment = now()
    return try objects.write { tx in
      let known = try tx.liveRecord(named: name)
      // Of bytes: texts that look alike may be two URLs.
      guard !known.url.utf8.elementsEqual(url.utf8) else {
        return WishOutcome(name: name, effect: .unchanged(known))
      }
      guard known.state != .finalizing else {
        throw DownloadStoreError(
          .busy,
          "'\(known.filename)' is just getting its name: try again in a moment"
        )
      }
      if let other = try tx.get(DownloadRecord.self, url) {
        throw DownloadStoreError(
          .urlTaken,
          "the URL '\(Redaction.url(url))' is that of another download, \(other.id)"
        )
      }
      if known.hasHeaders, var headers = try tx.get(RequestHeaders.self, known.id),
        headers.origin == nil
      {
        headers.origin = RecordIdentity.origin(of: known.url)
        try tx.upsert(headers)
      }
      var record = known
      record.move(to: url)
      record.updatedAt = moment
      try tx.delete(DownloadRecord.self, known.url)
      try tx.insert(record)
      return WishOutcome(name: name, effect: .done(record))
    }
  }
}

extension DownloadRecord {
  /// Gives the record another URL, from which it goes on.
  mutating func move(to url: String) {
    self.url = url
    mirrors.removeAll { $0.utf8.elementsEqual(url.utf8) }
    // It speaks of the old URL.
    resumeBlob = nil
    generation += 1
    switch state {
    case .running: state = .waiting
    case .failedRetryable, .failedPermanent: if intent == .run || intent == .hold { proceed() }
    case .waiting, .paused, .finalizing, .completed, .cancelled, .removed: break
    }
    failedAttempts = 0
    unresolvedStarts = 0
  }
}
