internal import ObjectStore
internal import SystemInterface

extension RecordStore {
  /// The downloads that stay in the previous standard folder when another one is set.
  package struct KeptDownloads: Sendable, Hashable {
    /// The previous path of the standard root.
    package var path: String
    /// The number of downloads.
    package var count: Int
  }

  /// Sets the folder for files from now on, which is the path of the standard root.
  ///
  /// A download of the standard root that has bytes or a file stays in the previous folder, under a
  /// root that is made for that path. The others follow to the new folder. The downloads of a root
  /// that an earlier call made for the new path return to the standard root, so that no path has two
  /// roots. Moves no files. All of it is one transaction, which is durable on return. The caller holds
  /// the engine lock, because an engine does not expect that the folder of a transfer changes.
  ///
  /// ``setRoot(_:named:)`` instead moves all downloads of a root, for a folder that has moved.
  ///
  /// - Parameter path: An absolute path.
  /// - Returns: The downloads that stay.
  /// - Throws: ``RecordStoreError`` with `invalidName` for a path that is relative, has `..`, or is
  ///   longer than 1,536 bytes; `StoreError`.
  /// - Complexity: O(n) for n records of the standard root and of the root with the new path if the
  ///   path changes, with one or two `lstat` calls for each download of the standard root that has not
  ///   started.
  package func setStandardFolder(_ path: String) throws -> KeptDownloads {
    let path = try Root.validatedPath(path)
    let (storeID, unset) = (id, "\(self.path)/files")
    return try objects.write { tx in
      let previous = try tx.find(Root.self, key: RootName.standard)?.path ?? unset
      var kept = KeptDownloads(path: previous, count: 0)
      // On Linux, canonically equivalent paths are those of different folders.
      if StoredText(previous) != StoredText(path) {
        var urls: [String] = []
        try tx.forEach(DownloadRecord.where { $0.root == RootName.standard }) { record in
          let layout = FileLayout(record: record, storeID: storeID, rootPath: previous)
          if record.hasFile(in: layout) { urls.append(record.url) }
          return true
        }
        try Self.move(urls, toRootAt: previous, in: &tx)
        kept.count = urls.count
        try takeBack(downloadsOfRootsMadeFor: path, in: &tx)
      }
      _ = try tx.upsert(Root(name: RootName.standard, path: path))
      return kept
    }
  }

  /// Returns the downloads of the roots that were made for a path to the standard root, which has the
  /// path now, and removes these roots.
  ///
  /// A download of the standard root that has no file, and the name of one of them, gets another name.
  /// Only a download whose name belongs to a file of another one stays in its root.
  private func takeBack(
    downloadsOfRootsMadeFor path: String,
    in tx: inout StoreTransaction
  ) throws {
    let made = Root.name(madeFor: path)
    let names = try tx.fetch(Root.all)
      .filter { StoredText($0.path) == StoredText(path) && $0.name.hasPrefix(made) }.map(\.name)
    guard !names.isEmpty else { return }
    let roots = Roots(paths: [:], standardPath: path, storeID: id)
    for name in names {
      var isEmpty = true
      var urls: [String] = []
      try tx.forEach(DownloadRecord.where { $0.root == name }) { record in
        urls.append(record.url)
        return true
      }
      for url in urls {
        guard var record = try tx.find(DownloadRecord.self, key: url) else { continue }
        record.root = RootName.standard
        record.setFilename(record.filename)
        let destination = record.destination
        let other = try tx.first(DownloadRecord.where { $0.destination == destination })
        if let other, try other.hasFile(in: roots.layout(of: other)) {
          isEmpty = false
          continue
        }
        try tx.upsert(record)
        guard var other else { continue }
        try reserveName(for: &other, roots, in: &tx)
        try tx.upsert(other)
      }
      if isEmpty { try tx.delete(Root.self, key: name) }
    }
  }

  /// Moves downloads of the standard root to roots with a path.
  ///
  /// There may be such a root, but another download may have the file name in it. The new root then
  /// has the same path.
  private static func move(
    _ urls: [String],
    toRootAt path: String,
    in tx: inout StoreTransaction
  ) throws {
    let roots = try tx.fetch(Root.all).filter { $0.name != RootName.standard }
    var names = roots.filter { StoredText($0.path) == StoredText(path) }.map(\.name).sorted()
    for url in urls {
      guard var record = try tx.find(DownloadRecord.self, key: url) else { continue }
      var candidates = names[...]
      while true {
        let name: String
        if let known = candidates.popFirst() {
          name = known
        } else {
          name = try tx.makeRoot(at: path)
          names.append(name)
        }
        let destination = FileLayout.destination(
          root: name,
          folder: record.folder,
          filename: record.filename
        )
        guard try !tx.exists(DownloadRecord.where { $0.destination == destination }) else {
          continue
        }
        (record.root, record.destination) = (name, destination)
        try tx.upsert(record)
        break
      }
    }
  }
}

extension StoreTransaction {
  /// Creates a root with a path, whether or not there is another one.
  ///
  /// - Returns: Its name.
  mutating func makeRoot(at path: String) throws -> String {
    var name = Root.name(madeFor: path)
    // A root that was created for this path may have been moved, with its records.
    while try find(Root.self, key: name) != nil { name += "-" }
    try insert(Root(name: name, path: path))
    return name
  }
}

extension Root {
  /// The name of the first root that is made for a path.
  fileprivate static func name(madeFor path: String) -> String {
    "root-\(RecordIdentity.id(forURL: path))"
  }
}

extension DownloadRecord {
  /// Whether the download has a finished or partial file, or may have one that is out of reach.
  fileprivate func hasFile(in layout: FileLayout) -> Bool {
    switch state {
    case .running, .finalizing, .completed, .removed: return true
    case .waiting, .paused, .failedRetryable, .failedPermanent, .cancelled: break
    }
    if received > 0 || fileIdentity != nil || replacedFileIdentity != nil { return true }
    var status = stat()
    return lstat(layout.partialPath, &status) == 0
  }
}
