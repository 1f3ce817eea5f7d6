package import DownloadStore
internal import Foundation

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
      self = .missing
      return
    }
    switch RefreshAnswer(head, comparedWith: version, of: record) {
    case .notModified: self = .unchanged
    case .digestForbids, .newerMissing: self = .newer
    case .other:
      let isComparable =
        version.entityTag != nil && head["ETag"] != nil
        || version.lastModified != nil && head["Last-Modified"] != nil
      self = isComparable ? .newer : .unknown
    }
  }

  /// Asks the servers of finished files, a few at a time.
  ///
  /// Sends one `HEAD` for each file, without conditions and without retries.
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
    let asked = try records.map { ($0, try headers($0)) }
    return try await withThrowingTaskGroup(
      of: (Int, Result<RefreshPreview, DownloadFailure>).self
    ) { group in
      var results: [Int: Result<RefreshPreview, DownloadFailure>] = [:]
      for (index, (record, fields)) in asked.enumerated() {
        if index >= maximumRunning, let (done, result) = try await group.next() {
          results[done] = result
        }
        if let failure = failures[index] {
          results[index] = .failure(failure)
          continue
        }
        group.addTask { (index, try await ask(record, transport, fields)) }
      }
      for try await (done, result) in group { results[done] = result }
      return asked.enumerated().compactMap { index, pair in results[index].map { (pair.0, $0) } }
    }
  }

  private static let maximumRunning = 8

  private static func ask(
    _ record: DownloadRecord,
    _ transport: any Transport,
    _ headers: [HeaderField]
  ) async throws -> Result<RefreshPreview, DownloadFailure> {
    do {
      let head = try await transport.document(record.url, method: .head, headers: headers).head
      guard head.status == 200 else {
        guard
          case .fail(let failure, _) = ResponseVerdict(
            head,
            offset: 0,
            expected: nil,
            validator: nil,
            now: Date()
          )
        else { return .success(.unknown) }
        return .failure(failure)
      }
      return .success(RefreshPreview(head, of: record))
    } catch let failure as DownloadFailure {
      return .failure(failure)
    }
  }
}
