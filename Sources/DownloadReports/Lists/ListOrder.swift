package import DownloadStore
package import ObjectStore
internal import ProgramOutput

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The sort order of a list: a field of the JSON record and a direction.
package struct ListOrder: Sendable, Equatable {
  /// The fields to sort by.
  package enum Field: String, CaseIterable, Sendable {
    case id, url, displayURL, filename, folder, type, state, intent
    case progress, received, expected, fraction
    case priority, attempts, heldByHand, createdAt, updatedAt, completedAt, localPath, fileStatus
  }

  package var field: Field
  package var isDescending = false

  /// Parses `FIELD`, `FIELD:asc` or `FIELD:desc`; `nil` for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard let name = parts.first, parts.count <= 2, let field = Self.field(named: String(name)),
      parts.count == 1 || parts[1] == "asc" || parts[1] == "desc"
    else { return nil }
    self.field = field
    isDescending = parts.last == "desc"
  }

  /// The field of a name, which may also be the title of a column in the table.
  private static func field(named name: String) -> Field? {
    Field(rawValue: name) ?? RecordColumn(named: name).flatMap { Field(rawValue: $0.rawValue) }
  }

  /// The names of the fields, and the titles of columns that stand for one.
  package static var names: [String] {
    let fields = Field.allCases.map(\.rawValue)
    return fields
      + RecordColumn.aliases.keys.sorted().filter {
        !fields.contains($0) && field(named: $0) != nil
      }
  }

  /// The suggestion for a text that is no order.
  package static func suggestion(for text: String) -> String {
    let field = String(text.prefix { $0 != ":" })
    return self.field(named: field) != nil
      ? " Did you mean '\(field):desc'?" : Suggestion.text(for: field, among: names)
  }

  /// Returns the downloads of a query in this order.
  ///
  /// Reads only the fields that the order needs, and one file of each download to sort by
  /// `fileStatus`. Keeps only the keys in memory: of the first ones if the query has a limit, or of
  /// all.
  ///
  /// The sort is stable. Downloads without a value come last in both directions.
  package func sorted(
    _ query: Query<DownloadRecord>,
    in tx: inout Snapshot,
    _ roots: Roots,
    engineRuns: Bool
  ) throws -> SortedObjects<DownloadRecord> {
    try tx.sorted(query, isDescending ? .descending : .ascending) {
      try key(of: &$0, roots, engineRuns: engineRuns)
    }
  }

  /// Returns the query in this order if an index serves it, so that a limit ends the search.
  package func indexed(_ query: Query<DownloadRecord>) -> Query<DownloadRecord>? {
    guard !isDescending else { return nil }
    switch field {
    case .id: return query.order(by: \.id)
    case .type: return query.order(by: \.type)
    default: return nil
    }
  }

  private func key(
    of view: inout ObjectView<DownloadRecord>,
    _ roots: Roots,
    engineRuns: Bool
  ) throws -> SortKey? {
    switch field {
    case .id: return SortKey(try view.id)
    case .url: return SortKey(try view.url)
    case .displayURL: return SortKey(Redaction.url(try view.url))
    case .filename: return SortKey(try view.filename)
    case .folder: return SortKey(try view.folder)
    case .type: return SortKey(try view.type)
    case .state:
      // In the order in which a download passes through the states.
      let word = try view.state.word(engineRuns: engineRuns)
      return SortKey(DownloadState.words.firstIndex(of: word) ?? .max)
    case .intent: return SortKey(try view.intent.rawValue)
    case .received: return SortKey(try view.received)
    case .expected: return try view.expected.map { SortKey($0) }
    case .progress, .fraction:
      guard let expected = try view.expected else { return nil }
      return DownloadEntry.fraction(received: try view.received, expected: expected)
        .map { SortKey($0) }
    case .priority: return SortKey(try view.priority)
    case .attempts: return SortKey(try view.failedAttempts)
    case .heldByHand: return SortKey(try view.isHeld ? 1 : 0)
    case .createdAt: return SortKey(try view.createdAt.timeIntervalSince1970)
    case .updatedAt: return SortKey(try view.updatedAt.timeIntervalSince1970)
    case .completedAt: return try view.completedAt.map { SortKey($0.timeIntervalSince1970) }
    case .localPath:
      guard try view.state == .completed || view.fileIdentity != nil else { return nil }
      return DownloadEntry(try view.object(), roots).localPath.map { SortKey($0) }
    case .fileStatus:
      return SortKey(DownloadEntry(try view.object(), roots).fileStatus.rawValue)
    }
  }
}
