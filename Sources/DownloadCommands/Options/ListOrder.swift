internal import DownloadStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The sort order of a list: a field of the JSON record and a direction.
struct ListOrder: Sendable, Equatable {
  /// The fields to sort by.
  enum Field: String, CaseIterable, Sendable {
    case id, url, displayURL, filename, folder, type, state, intent
    case progress, received, expected, fraction
    case priority, attempts, heldByHand, createdAt, updatedAt, completedAt, localPath, fileStatus
  }

  private enum Key: Equatable {
    case text(String)
    case number(Double)
    case integer(Int64)
  }

  var field: Field
  var isDescending = false

  /// Parses `FIELD`, `FIELD:asc` or `FIELD:desc`; `nil` for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard let name = parts.first, parts.count <= 2, let field = Field(rawValue: String(name)),
      parts.count == 1 || parts[1] == "asc" || parts[1] == "desc"
    else { return nil }
    self.field = field
    isDescending = parts.last == "desc"
  }

  /// The suggestion for a text that is no order.
  static func suggestion(for text: String) -> String {
    let field = String(text.prefix { $0 != ":" })
    let fields = Field.allCases.map(\.rawValue)
    return fields.contains(field)
      ? " Did you mean '\(field):desc'?" : Suggestion.text(for: field, among: fields)
  }

  /// Returns the entries in this order.
  ///
  /// The sort is stable. Entries without a value come last in both directions.
  func sorted(_ entries: [DownloadEntry]) -> [DownloadEntry] {
    let keyed = entries.enumerated().map { (key: key(of: $1), index: $0, entry: $1) }
    return keyed.sorted { left, right in
      switch (left.key, right.key) {
      case (nil, nil): return left.index < right.index
      case (nil, _): return false
      case (_, nil): return true
      case (let one?, let other?):
        if one == other { return left.index < right.index }
        return Self.isLess(one, other) != isDescending
      }
    }
    .map(\.entry)
  }

  private static func isLess(_ left: Key, _ right: Key) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)): left < right
    case (.number(let left), .number(let right)): left < right
    case (.integer(let left), .integer(let right)): left < right
    default: false
    }
  }

  private func key(of entry: DownloadEntry) -> Key? {
    let record = entry.record
    switch field {
    case .id: return .text(record.id)
    case .url: return .text(record.url)
    case .displayURL: return .text(entry.displayURL)
    case .filename: return .text(record.filename)
    case .folder: return .text(record.folder)
    case .type: return .text(record.type)
    case .state:
      // In the order in which a download passes through the states.
      return .integer(Int64(DownloadState.words.firstIndex(of: record.state.word) ?? .max))
    case .intent: return .text(record.intent.rawValue)
    case .received: return .integer(record.received)
    case .expected: return record.expected.map(Key.integer)
    case .progress, .fraction: return entry.fraction.map(Key.number)
    case .priority: return .integer(Int64(record.priority))
    case .attempts: return .integer(Int64(record.failedAttempts))
    case .heldByHand: return .integer(record.isHeld ? 1 : 0)
    case .createdAt: return .number(record.createdAt.timeIntervalSince1970)
    case .updatedAt: return .number(record.updatedAt.timeIntervalSince1970)
    case .completedAt: return record.completedAt.map { .number($0.timeIntervalSince1970) }
    case .localPath: return entry.localPath.map(Key.text)
    case .fileStatus: return .text(entry.fileStatus.rawValue)
    }
  }
}
