package import DownloadStore
internal import DownloadSync
internal import Foundation
package import ObjectStore
internal import ProgramOutput
internal import ResumeData

/// A record as JSON.
///
/// The keys are stable, and sorted.
package enum RecordJSON {
  /// The members that `list` prints.
  package static func value(of entry: DownloadEntry, revealsSecrets: Bool = false) -> JSONValue {
    .object(members(of: entry, revealsSecrets: revealsSecrets))
  }

  /// The members that `inspect` prints.
  package static func inspection(
    of entry: DownloadEntry,
    headers: [HeaderField],
    revealsSecrets: Bool
  ) -> JSONValue {
    let record = entry.record
    let shown = revealsSecrets ? headers : headers.map(Redaction.field)
    var members = members(of: entry, revealsSecrets: revealsSecrets)
    members += [
      JSONValue.Member(name: "files", value: files(of: entry)),
      JSONValue.Member(
        name: "headers",
        value: .array(shown.map { ["name": .string($0.name), "value": .string($0.value)] })
      ),
      JSONValue.Member(
        name: "history",
        value: .array(record.attempts.map { attempt(of: entry, $0, revealsSecrets) })
      ),
      JSONValue.Member(
        name: "keptVersions",
        value: .array(entry.versionNames.map(JSONValue.string))
      ),
      JSONValue.Member(name: "next", value: next(of: entry)),
      JSONValue.Member(
        name: "pendingHooks",
        value: .array(record.pendingHooks.map(\.rawValue).sorted().map(JSONValue.string))
      ),
      JSONValue.Member(
        name: "ranges",
        value: record.ranges == nil ? .null : JSONValue(ranges: record.committed.ranges)
      ),
      JSONValue.Member(name: "root", value: .string(record.root)),
      JSONValue.Member(
        name: "turn",
        value: JSONValue(QueuePositionText.text(of: record, revealsSecrets: revealsSecrets))
      ),
      JSONValue.Member(
        name: "resumeData",
        value: record.resumeData.map { resumeData($0, revealsSecrets) } ?? .null
      ),
    ]
    return .object(members.sorted { $0.name < $1.name })
  }

  private static func members(
    of entry: DownloadEntry,
    revealsSecrets: Bool
  ) -> [JSONValue.Member] {
    let record = entry.record
    let mirrors = revealsSecrets ? record.mirrors : record.mirrors.map(Redaction.url)
    let keys = revealsSecrets ? record.keys.sorted() : record.keys.sorted().map(Redaction.name)
    guard
      case .object(let members) =
        [
          "attempts": .integer(Int64(record.failedAttempts)),
          "checksum": checksum(of: record),
          "completedAt": JSONValue(record.completedAt.map(Timestamp.text)),
          "connections": JSONValue(record.connections.map(Int64.init)),
          "createdAt": .string(Timestamp.text(record.createdAt)),
          "displayURL": .string(revealsSecrets ? record.url : entry.displayURL),
          "fileStatus": .string(entry.fileStatus.rawValue),
          "filename": .string(record.filename),
          "folder": .string(record.folder),
          "heldByHand": .bool(record.isHeld),
          "id": .string(record.id),
          "intent": .string(record.intent.rawValue),
          "keepVersions": JSONValue(record.keepVersions.map(Int64.init)),
          "keys": .array(keys.map(JSONValue.string)),
          "lastError": lastError(of: entry, revealsSecrets),
          "limitRate": JSONValue(record.bytesPerSecond),
          "localPath": JSONValue(entry.localPath),
          "mirrors": .array(mirrors.map(JSONValue.string)),
          "nextRefreshAt": JSONValue(record.nextRefreshAt.map(Timestamp.text)),
          "nextRetryAt": JSONValue(entry.nextRetryAt.map(Timestamp.text)),
          "notBefore": JSONValue(record.notBefore.map(Timestamp.text)),
          "priority": .integer(Int64(record.priority)),
          "progress": [
            "expected": JSONValue(record.expected),
            "fraction": JSONValue(entry.fraction),
            "received": .integer(record.received),
          ],
          "refreshEvery": JSONValue(record.refreshEvery),
          "resume": entry.resume.map {
            [
              "kind": .string($0.kind),
              "received": .integer($0.received),
              "validator": JSONValue($0.validator),
            ]
          } ?? .null,
          "state": .string(entry.state),
          "tags": .array(record.tags.sorted().map(JSONValue.string)),
          "type": .string(record.type),
          "updatedAt": .string(Timestamp.text(record.updatedAt)),
          "url": .string(record.url),
        ] as JSONValue
    else { return [] }
    return members
  }

  private static func checksum(of record: DownloadRecord) -> JSONValue {
    guard record.expectedDigest != nil || record.verifiedDigest != nil else { return .null }
    return [
      "expected": JSONValue(record.expectedDigest),
      "verified": JSONValue(record.verifiedDigest),
    ]
  }

  private static func lastError(of entry: DownloadEntry, _ revealsSecrets: Bool) -> JSONValue {
    guard let attempt = entry.lastAttempt else { return .null }
    return [
      "at": .string(Timestamp.text(attempt.at)),
      "code": .string(attempt.failure.code.rawValue),
      "message": .string(entry.message(of: attempt, revealsSecrets: revealsSecrets)),
    ]
  }

  private static func attempt(
    of entry: DownloadEntry,
    _ attempt: Attempt,
    _ revealsSecrets: Bool
  ) -> JSONValue {
    [
      "at": .string(Timestamp.text(attempt.at)),
      "code": .string(attempt.failure.code.rawValue),
      "message": .string(entry.message(of: attempt, revealsSecrets: revealsSecrets)),
      "received": .integer(attempt.received),
      "url": .string(revealsSecrets ? attempt.url : Redaction.url(attempt.url)),
    ]
  }

  private static func files(of entry: DownloadEntry) -> JSONValue {
    guard let layout = entry.layout, let files = entry.files else { return .null }
    return [
      "final": [
        "byteCount": JSONValue(FileIdentity(ofFileAt: layout.finalPath)?.size),
        "path": .string(layout.finalPath),
        "status": .string(entry.finalFileStatus(files)),
      ],
      "partial": [
        "byteCount": JSONValue(files.partial == .missing ? nil : files.partialSize),
        "path": .string(layout.partialPath),
        "status": .string(files.partial.rawValue),
      ],
    ]
  }

  /// Resume data that cannot be decoded is shown with its size only.
  private static func resumeData(_ bytes: Data, _ revealsSecrets: Bool) -> JSONValue {
    guard let data = try? URLSessionResumeData(Array(bytes)) else {
      return ["byteCount": .integer(Int64(bytes.count))]
    }
    return ResumeDataJSON.value(of: data, revealsSecrets: revealsSecrets)
  }

  private static func next(of entry: DownloadEntry) -> JSONValue {
    guard let next = NextStep(of: entry) else { return .null }
    return ["action": .string(next.action), "rule": .string(next.rule)]
  }
}

extension JSONValue {
  /// Creates an array with the first and the last byte of each range.
  package init(ranges: [Range<Int64>]) {
    self = .array(
      ranges.map { .array([.integer($0.lowerBound), .integer($0.upperBound - 1)]) }
    )
  }
}
