package import DownloadStore

/// What a server says about a finished file before it is refreshed.
package enum RefreshPreview: String, Sendable, Hashable {
  /// The server has another version.
  case newer
  /// The finished file is missing or was changed, so the server's version is downloaded.
  case missing
  /// The file is the server's current version.
  case unchanged
  /// The server, or the record, has no validator to compare.
  case unknown

  /// Judges the head of the response with the whole file.
  ///
  /// - Parameters:
  ///   - head: The status and fields of the response.
  ///   - record: The record as the refresh would queue it.
  init(_ head: ResponseHead, of record: DownloadRecord) {
    guard let version = record.earlierVersion else {
      // A newer version that is complete is about to get its name.
      self = record.refreshed == nil ? .missing : .newer
      return
    }
    switch RefreshAnswer(head, comparedWith: version, of: record) {
    case .notModified: self = .unchanged
    case .digestForbids, .newerMissing: self = .newer
    // The answer to 'HEAD' often has no length.
    case .empty: self = .unknown
    case .other:
      let isReplaced = version.isReplaced(in: head, size: record.replacedFileIdentity?.size)
      self = isReplaced ? .newer : .unknown
    }
  }

  /// Asks the servers of finished files, a few at a time.
  ///
  /// Sends one `HEAD` for each file with the conditions of a refresh, or a request for its first byte if
  /// the server refuses that, without retries.
  ///
  /// - Parameters:
  ///   - records: The records as the refresh would queue them.
  ///   - transport: The transport.
  ///   - unplaced: Returns the failure of a download whose files cannot be found, whose server is not
  ///     asked.
  ///   - headers: Returns the fields that a download sends.
  /// - Returns: The answers in the order of the records.
  /// - Throws: The error of `headers`; `CancellationError`.
  package static func all(
    of records: [DownloadRecord],
    _ transport: any Transport,
    unplaced: (DownloadRecord) -> DownloadFailure? = { _ in nil },
    headers: (DownloadRecord) throws -> [HeaderField]
  ) async throws -> [(DownloadRecord, Result<RefreshPreview, DownloadFailure>)] {
    let failures = records.map(unplaced)
    let asked = try records.enumerated().map { index, record in
      (record, failures[index], try headers(record))
    }
    let results = try await ConcurrentRequests.results(of: asked) { record, failure, fields in
      if let failure { throw failure }
      return try await ask(record, transport, fields)
    }
    return Array(zip(records, results))
  }

  private static func ask(
    _ record: DownloadRecord,
    _ transport: any Transport,
    _ headers: [HeaderField]
  ) async throws -> RefreshPreview {
    // The newer version is complete here, whatever the server says now.
    if record.earlierVersion == nil, record.refreshed != nil { return .newer }
    let head = try await transport.wholeHead(of: record.url, headers: headers) { request in
      guard let version = record.earlierVersion else { return }
      request.ask(forNewerThan: version, of: RecordIdentity.origin(of: record.url))
    }
    let answer = record.earlierVersion.map { RefreshAnswer(head, comparedWith: $0, of: record) }
    guard head.status == 200 || head.status == 304 && answer == .notModified else {
      guard let failure = head.failure else { return .unknown }
      throw failure
    }
    if let version = record.earlierVersion, version.isKnownToServer,
      head.isStrangePage(insteadOf: record.filename, ofSize: record.replacedFileIdentity?.size)
    {
      throw ResponseHead.strangePage
    }
    return RefreshPreview(head, of: record)
  }
}
