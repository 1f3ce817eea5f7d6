internal import DownloadStore
internal import ProgramOutput

/// A column of `list`: a field of the JSON record, with the members of its objects flattened.
package enum RecordColumn: String, CaseIterable, Sendable {
  case id, url, displayURL, filename, folder, type, state, intent, received, expected, fraction
  case resumeKind, resumeReceived, resumeValidator, tags, priority, attempts
  case errorCode, errorMessage, errorAt, mirrors, checksumExpected, checksumVerified
  case heldByHand, createdAt, updatedAt, completedAt, localPath, fileStatus, limitRate, notBefore
  case connections, nextRetryAt, keys, refreshEvery, nextRefreshAt, keepVersions

  /// The value of a cell.
  package enum Value: Equatable {
    case text(String)
    /// A word for programs and filters, and a text for people.
    case word(String, text: String)
    case number(Int64)
    case byteCount(Int64)
    case fraction(Double)
    case missing
  }

  /// The columns of a table by default.
  package static let table: [RecordColumn] = [
    .id, .state, .fraction, .received, .expected, .fileStatus, .filename, .url,
  ]

  /// The columns of CSV by default, and their order.
  package static let csv = allCases.filter { $0 != .displayURL }

  /// The names that `--columns` accepts besides the columns' own: those of the table's header, and
  /// the objects of the JSON record.
  package static let aliases: [String: RecordColumn] = [
    "done": .fraction, "size": .expected, "file": .fileStatus, "name": .filename,
    "progress": .fraction, "resume": .resumeKind, "lastError": .errorMessage,
    "checksum": .checksumExpected,
  ]

  /// Finds a column by its name or alias, in any case; `nil` for an unknown name.
  package init?(named name: String) {
    let key = name.lowercased()
    guard
      let column = Self.allCases.first(where: { $0.rawValue.lowercased() == key })
        ?? Self.aliases.first(where: { $0.key.lowercased() == key })?.value
    else { return nil }
    self = column
  }

  /// Returns the value for a download; the URLs are redacted.
  package func value(of entry: DownloadEntry) -> Value {
    let record = entry.record
    switch self {
    case .id: return .text(record.id)
    case .url, .displayURL: return .text(entry.displayURL)
    case .filename: return .text(record.filename)
    case .folder: return .text(record.folder)
    case .type: return .text(record.type)
    case .state: return .word(entry.state, text: entry.stateText)
    case .intent: return .text(record.intent.rawValue)
    case .received: return .byteCount(record.received)
    case .expected: return record.expected.map(Value.byteCount) ?? .missing
    case .fraction: return entry.fraction.map(Value.fraction) ?? .missing
    case .resumeKind: return Value(entry.resume?.kind)
    case .resumeReceived: return entry.resume.map { .byteCount($0.received) } ?? .missing
    case .resumeValidator: return Value(entry.resume?.validator)
    case .keys: return .text(record.keys.sorted().map(Redaction.name).joined(separator: " "))
    case .tags: return .text(record.tags.sorted().joined(separator: " "))
    case .priority: return .number(Int64(record.priority))
    case .attempts: return .number(Int64(record.failedAttempts))
    case .errorCode: return Value(entry.lastAttempt?.failure.code.rawValue)
    case .errorMessage: return Value(entry.lastAttempt.map { entry.message(of: $0) })
    case .errorAt: return Value(entry.lastAttempt.map { Timestamp.text($0.at) })
    case .mirrors: return .text(record.mirrors.map(Redaction.url).joined(separator: " "))
    case .checksumExpected: return Value(record.expectedDigest)
    case .checksumVerified: return Value(record.verifiedDigest)
    case .heldByHand: return .text(String(record.isHeld))
    case .createdAt: return .text(Timestamp.text(record.createdAt))
    case .updatedAt: return .text(Timestamp.text(record.updatedAt))
    case .completedAt: return Value(record.completedAt.map(Timestamp.text))
    case .localPath: return Value(entry.localPath)
    case .fileStatus: return .text(entry.fileStatus.rawValue)
    case .limitRate: return record.bytesPerSecond.map(Value.byteCount) ?? .missing
    case .notBefore: return Value(record.notBefore.map(Timestamp.text))
    case .connections: return record.connections.map { .number(Int64($0)) } ?? .missing
    case .nextRetryAt: return Value(entry.nextRetryAt.map(Timestamp.text))
    case .keepVersions: return record.keepVersions.map { .number(Int64($0)) } ?? .missing
    case .refreshEvery: return record.refreshEvery.map(Value.number) ?? .missing
    case .nextRefreshAt: return Value(record.nextRefreshAt.map(Timestamp.text))
    }
  }
}

extension RecordColumn.Value {
  /// A text that may be unknown.
  package init(_ text: String?) {
    self = text.map(Self.text) ?? .missing
  }

  /// The exact value, for programs; empty if it is unknown.
  package var exactText: String {
    switch self {
    case .text(let text), .word(let text, _): text
    case .number(let number), .byteCount(let number): String(number)
    case .fraction(let fraction): String(fraction)
    case .missing: ""
    }
  }

  /// The value for people; a dash if it is unknown.
  package func tableText(showsBytes: Bool) -> String {
    switch self {
    case .text(let text), .word(_, let text): text
    case .number(let number): String(number)
    case .byteCount(let count): showsBytes ? String(count) : ByteAmount.text(count)
    case .fraction(let fraction): "\(Int(fraction * 100))%"
    case .missing: "—"
    }
  }
}
