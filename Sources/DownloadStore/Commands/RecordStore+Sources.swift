internal import ObjectStore

extension RecordStore {
  /// Changes the URLs from which a download may be fetched, in one transaction on the calling thread.
  ///
  /// First the URLs are removed, then the others are added as mirrors. If the URL of the download is
  /// removed, the first mirror takes its place, as by ``replaceURL(matching:with:)``: the bytes on disk
  /// stay. Durable on return.
  ///
  /// - Parameters:
  ///   - name: The URL, the id, a unique id prefix, or a unique file name.
  ///   - removed: The URLs to remove; those that the download does not have are ignored.
  ///   - added: The URLs to add; those that it has are ignored.
  ///   - position: The number of mirrors before the new ones; `nil` to append them.
  /// - Returns: The numbers of URLs that were removed and added.
  /// - Throws: ``RecordStoreError`` with `unknownRecord`, `ambiguousID` or `urlTaken`; with `invalidURL`
  ///   for a new URL that cannot be fetched, and if no URL would be left; with `busy` while the finished
  ///   file is being renamed; `StoreError`. Nothing has changed then.
  package func changeSources(
    matching name: String,
    removing removed: [String],
    adding added: [String],
    at position: Int? = nil
  ) throws -> (removed: Int, added: Int) {
    for url in added { try RecordIdentity.validate(url) }
    let moment = now()
    return try objects.write { tx in
      let known = try tx.liveRecord(matching: name)
      var sources = DownloadSources(known)
      let counts = (removed: sources.remove(removed), added: sources.add(added, at: position))
      guard let url = sources.url else {
        throw RecordStoreError(.invalidURL, "the download \(known.id) would have no URL")
      }
      guard counts.removed + counts.added > 0 else { return counts }
      var record = known
      record.mirrors = sources.mirrors
      record.updatedAt = moment
      if StoredText(url) == StoredText(known.url) {
        try tx.upsert(record)
      } else {
        try requireFree(url, for: known, in: tx)
        try record.apply(.moved(to: url), at: moment)
        try tx.delete(DownloadRecord.self, key: known.url)
        try tx.insert(record)
      }
      return counts
    }
  }

  /// Sets the priorities of downloads, in one transaction on the calling thread.
  ///
  /// Downloads that are gone are ignored. Durable on return.
  ///
  /// - Parameter priorities: The new priorities by URL.
  /// - Throws: `StoreError`.
  package func setPriorities(_ priorities: [(url: String, priority: Int32)]) throws {
    guard !priorities.isEmpty else { return }
    let moment = now()
    try objects.write { tx in
      let known = try tx.find(DownloadRecord.self, keys: priorities.map(\.url))
      var changed: [DownloadRecord] = []
      for (record, change) in zip(known, priorities) {
        guard var record, record.priority != change.priority else { continue }
        record.priority = change.priority
        record.updatedAt = moment
        changed.append(record)
      }
      try tx.upsert(contentsOf: changed)
    }
  }
}

/// The URLs of a download while they are changed.
struct DownloadSources {
  /// The URL of the download; `nil` if it was removed and no mirror is left.
  var url: String? { isURLRemoved ? others.first : first }
  /// The mirrors.
  var mirrors: [String] { isURLRemoved ? Array(others.dropFirst()) : others }

  private let first: String
  private var others: [String]
  private var isURLRemoved = false

  init(_ record: DownloadRecord) {
    first = record.url
    others = record.mirrors
  }

  /// Removes one URL for each of the given ones.
  ///
  /// - Returns: The number of removed URLs.
  mutating func remove(_ urls: [String]) -> Int {
    var count = 0
    for url in urls {
      if let index = others.firstIndex(where: { StoredText($0) == StoredText(url) }) {
        others.remove(at: index)
      } else if !isURLRemoved, StoredText(url) == StoredText(first) {
        isURLRemoved = true
      } else {
        continue
      }
      count += 1
    }
    return count
  }

  /// Inserts URLs after the first `position` mirrors, or after all.
  ///
  /// - Returns: The number of added URLs.
  mutating func add(_ urls: [String], at position: Int?) -> Int {
    var known = Set(others.map(StoredText.init))
    if !isURLRemoved { known.insert(StoredText(first)) }
    let room = max(0, RecordLimits.mirrors - others.count)
    let new = urls.filter { known.insert(StoredText($0)).inserted }.prefix(room)
    others.insert(contentsOf: new, at: min(max(position ?? others.count, 0), others.count))
    return new.count
  }
}
