internal import DownloadStore
internal import ObjectStore

extension RecordStore {
  /// Returns the URLs of the selected downloads.
  ///
  /// - Parameters:
  ///   - selection: The downloads.
  ///   - allowsMissing: Whether a name may be the URL of a download that does not exist.
  /// - Returns: The URLs, in the order of the names or of the index, each once.
  /// - Throws: `RecordStoreError` with `unknownRecord` or `ambiguousID`; `StoreError`.
  func urls(of selection: RecordSelection, allowsMissing: Bool = false) throws -> [String] {
    switch selection {
    case .matching(let names):
      let known = try objects.read { tx in try tx.find(DownloadRecord.self, keys: names) }
      let urls = try zip(names, known).map { name, record in
        if let record { return record.url }
        do {
          return try self.record(matching: name).url
        } catch let error as RecordStoreError where error.code == .unknownRecord && allowsMissing {
          return name
        }
      }
      var found: Set<StoredText> = []
      return urls.filter { found.insert(StoredText($0)).inserted }
    case .tagged(let tag):
      return try urls(DownloadRecord.where { $0.tags.contains(tag) })
    case .all: return try urls(DownloadRecord.all)
    }
  }

  private func urls(_ query: Query<DownloadRecord>) throws -> [String] {
    try objects.read { tx in try tx.fetch(query) { view in try view.url } }
  }
}
