package import DownloadStore
package import ObjectStore

/// A page of a list: some downloads in an order, and where the next page begins.
///
/// A position is a place in the order, not a number of downloads: downloads that are added or removed
/// meanwhile are neither skipped nor repeated, and a later page costs no more than the first.
package struct DownloadPage: Sendable {
  /// The downloads.
  package var entries: [DownloadEntry]
  /// The position of the next page; `nil` on the last one.
  package var next: String?
}

/// The orders of pages: stored fields of the JSON record.
package enum PageOrder: String, CaseIterable, Sendable {
  case id, url, filename, folder, type, received, expected, priority, attempts
  case createdAt, updatedAt, completedAt

  /// The names.
  package static var names: [String] { allCases.map(\.rawValue) }
}

/// A request for a page of downloads.
package struct PageRequest: Sendable {
  /// Which downloads are listed.
  package var filter: Filter<DownloadRecord>
  /// The order; `nil` for the order in which the downloads were added.
  package var order: PageOrder?
  package var isDescending = false
  /// The number of downloads on a page.
  package var size = 100
  /// The position after which the page begins; `nil` for the first page.
  package var after: PageToken?

  /// Creates a request for the first page of the downloads that match a condition.
  package init(_ filter: Filter<DownloadRecord>) { self.filter = filter }

  /// The query, whose order an index serves for `id` and `type`.
  private var query: Query<DownloadRecord> {
    let query = Query(filter)
    let direction: SortDirection = isDescending ? .descending : .ascending
    switch order {
    case nil: return query
    case .id: return query.order(by: \.id, direction)
    case .url: return query.order(by: \.url, direction)
    case .filename: return query.order(by: \.filename, direction)
    case .folder: return query.order(by: \.folder, direction)
    case .type: return query.order(by: \.type, direction)
    case .received: return query.order(by: \.received, direction)
    case .expected: return query.order(by: \.expected, direction)
    case .priority: return query.order(by: \.priority, direction)
    case .attempts: return query.order(by: \.failedAttempts, direction)
    case .createdAt: return query.order(by: \.createdAt, direction)
    case .updatedAt: return query.order(by: \.updatedAt, direction)
    case .completedAt: return query.order(by: \.completedAt, direction)
    }
  }

  /// Reads the page in a snapshot.
  ///
  /// - Throws: `StoreError`, with `invalidPageToken` for a position in another order;
  ///   `CancellationError`.
  package func read(
    in tx: inout Snapshot,
    _ roots: Roots,
    engineRuns: Bool
  ) throws -> DownloadPage {
    let page = try tx.page(query, size: size, after: after)
    return DownloadPage(
      entries: page.objects.map { DownloadEntry($0, roots, engineRuns: engineRuns) },
      next: page.next?.description
    )
  }
}
