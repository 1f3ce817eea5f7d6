package import ObjectStore

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension RecordStore {
  /// Returns the URLs of completed downloads whose refresh is due.
  ///
  /// These include times that are more than a year away, which no period produces: the clock was set
  /// back. After a smaller change of the clock the times are kept.
  ///
  /// - Parameters:
  ///   - moment: The time up to which they are due.
  ///   - limit: The maximum number of URLs.
  /// - Returns: The URLs, in no particular order.
  /// - Throws: `StoreError`.
  /// - Complexity: O(k log n) for k returned URLs and n downloads of the store.
  package func dueRefreshes(at moment: Date, limit: Int = .max) throws -> [String] {
    let last = moment.addingTimeInterval(TimeInterval(RecordLimits.refreshPeriod.upperBound))
    return try objects.read { tx in
      func urls(_ query: Query<DownloadRecord>, _ limit: Int) throws -> [String] {
        try tx.fetch(query.limit(limit)) { view in try view.url }
      }
      let due = try urls(DownloadRecord.where { $0.refreshDates.any { $0 <= moment } }, limit)
      guard due.count < limit else { return due }
      let late = DownloadRecord.where { $0.refreshDates.any { $0 > last } }
      return due + (try urls(late, limit - due.count))
    }
  }

  /// Requests those of some refreshes that are still due, as the command does.
  ///
  /// - Parameters:
  ///   - urls: The URLs of the downloads.
  ///   - cutoff: The time up to which they are due.
  ///   - moment: The time of the request.
  ///   - roots: The store's roots.
  ///   - tx: A transaction of the store.
  /// - Returns: The records that wait for their refresh now.
  /// - Throws: `StoreError`.
  /// - Complexity: O(k log n) for k URLs, and one `lstat` for each file.
  package func requestRefreshes(
    _ urls: [String],
    dueAt cutoff: Date,
    at moment: Date,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws -> [DownloadRecord] {
    let due = try tx.find(DownloadRecord.self, keys: urls).compactMap { $0 }
      .filter { $0.isRefreshDue(at: cutoff) }
    let outcomes = try outcomes(
      of: .refresh,
      .named(due.map(\.url)),
      nil,
      roots,
      at: moment,
      in: &tx
    ) { changed, known, tx in try tx.store(changed, after: known) }
    var records: [DownloadRecord] = []
    for outcome in outcomes {
      switch outcome.effect {
      case .done(let record): records.append(record)
      case .unchanged(var record):
        record.skipRefresh(at: moment)
        try tx.upsert(record)
      case .unknown: break
      }
    }
    return records
  }
}
