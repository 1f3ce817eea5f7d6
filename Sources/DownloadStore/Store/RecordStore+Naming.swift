package import ObjectStore
internal import SystemInterface

extension RecordStore {
  /// Gives the record a name that no other record and no file has, numbered if necessary.
  ///
  /// - Parameters:
  ///   - record: A record with the wanted name. The caller stores it.
  ///   - roots: The store's roots.
  ///   - tx: The transaction in which the record is stored, which makes the reservation.
  /// - Throws: `StoreError`; ``RecordStoreError`` with `missingRoot`.
  /// - Complexity: O(log n) lookups of records and files, for n taken numbers.
  package func reserveName(
    for record: inout DownloadRecord,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws {
    record.setFilename(record.filename)
    if try isFree(record, roots, in: tx) { return }
    _ = try number(&record, after: 1) { try isFree($0, roots, in: tx) }
  }

  /// Returns the failure of a complete download whose name is taken, if it requires that name.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - roots: The store's roots.
  ///   - tx: A transaction of the store.
  /// - Returns: The failure; `nil` if the name is free, or if the download may get a number.
  /// - Throws: `StoreError`; ``RecordStoreError`` with `missingRoot`.
  package func nameFailure(
    of record: DownloadRecord,
    _ roots: Roots,
    in tx: borrowing StoreTransaction
  ) throws -> DownloadFailure? {
    guard record.requiresName, try !isFree(record, roots, in: tx) else { return nil }
    return DownloadFailure(nameTaken: try roots.finalPath(of: record))
  }

  /// Gives a complete download the name of the file that it continues, unless another record has it.
  ///
  /// - Parameters:
  ///   - record: The record, whose file begins with the bytes of that file. The caller stores it.
  ///   - roots: The store's roots.
  ///   - tx: The transaction in which the record is stored.
  /// - Returns: Whether the record has got the name.
  /// - Throws: `StoreError`; ``RecordStoreError`` with `missingRoot`.
  package func takeContinuedName(
    for record: inout DownloadRecord,
    _ roots: Roots,
    in tx: borrowing StoreTransaction
  ) throws -> Bool {
    guard record.continuedPath(in: try roots.layout(of: record)) != nil else { return false }
    var named = record
    named.setFilename(SafeFilename.withoutNumber(record.filename))
    guard try !isReserved(named, in: tx) else { return false }
    record = named
    return true
  }

  /// Numbers the record's name with the next free number, and returns it.
  ///
  /// - Parameters:
  ///   - record: A record with the wanted name.
  ///   - number: A taken number, at least 1, which stands for the name without a number.
  ///   - isFree: Whether the record can have its name.
  /// - Returns: The number.
  /// - Throws: ``RecordStoreError`` with `nameTaken` if no number is free; the error of `isFree`.
  func number(
    _ record: inout DownloadRecord,
    after number: Int,
    isFree: (DownloadRecord) throws -> Bool
  ) throws -> Int {
    let wanted = record.filename
    let free = try FreeNumber.find(after: number) { number in
      record.setFilename(SafeFilename.numbered(wanted, number))
      return try isFree(record)
    }
    record.setFilename(SafeFilename.numbered(wanted, free))
    return free
  }

  /// Sets the record's name; returns whether the name is free.
  func take(
    _ filename: String,
    for record: inout DownloadRecord,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws -> Bool {
    record.setFilename(filename)
    return try isFree(record, roots, in: tx)
  }

  /// Whether no file and no other record has the record's destination.
  private func isFree(
    _ record: DownloadRecord,
    _ roots: Roots,
    in tx: borrowing StoreTransaction
  ) throws -> Bool {
    try !isOccupied(record, roots) && !isReserved(record, in: tx)
  }

  /// Whether something exists at the record's final path, or the store has a file of its own there.
  ///
  /// A path that cannot be examined, in a folder without permission or on a volume that is away, does
  /// not count: no number would help, and the rename at the end of the download replaces nothing.
  func isOccupied(_ record: DownloadRecord, _ roots: Roots) throws -> Bool {
    switch PathExamination(try roots.finalPath(of: record)) {
    case .file, .other: true
    case .missing, .failed: try hasStorePath(record, roots)
    }
  }

  /// Whether nothing exists at the record's final path, and the store has no file of its own there.
  func isFileMissing(of record: DownloadRecord, _ roots: Roots) throws -> Bool {
    guard case .missing = PathExamination(try roots.finalPath(of: record)) else { return false }
    return try !hasStorePath(record, roots)
  }

  /// Whether a record's final path is that of a file of this store, which may not exist yet.
  ///
  /// Case does not count, because some file systems disregard it. Costs two `stat` for the name of such
  /// a file.
  func hasStorePath(_ record: DownloadRecord, _ roots: Roots) throws -> Bool {
    let name = record.filename.lowercased()
    guard Self.storeNames.contains(name) || name.utf8.starts(with: "data.mdb".utf8) else {
      return false
    }
    let folder = parentFolder(of: try roots.finalPath(of: record))
    var (status, own) = (stat(), stat())
    return statFollowingLinks(folder, &status) == 0 && statFollowingLinks(path, &own) == 0
      && status.st_dev == own.st_dev && status.st_ino == own.st_ino
  }

  /// The files beside `data.mdb` and its copies.
  private static let storeNames: Set = ["lock.mdb", "changes", "engine.lock", "waiters"]

  /// Whether another record has the name of a record in the same folder, but for the number.
  ///
  /// Looks up the name without a number, and that with the first one: costs two searches of an index.
  ///
  /// - Throws: `StoreError`.
  package func hasNamesake(of record: DownloadRecord) throws -> Bool {
    let name = SafeFilename.withoutNumber(record.filename)
    let destinations = [name, SafeFilename.numbered(name, 2)].map {
      FileLayout.destination(root: record.root, folder: record.folder, filename: $0)
    }
    let url = record.url
    return try objects.read { tx in
      try destinations.contains { destination in
        try tx.exists(DownloadRecord.where { $0.destination == destination && $0.url != url })
      }
    }
  }

  /// Whether another record has the same destination, or the one that the record may move to.
  func isReserved(
    _ record: DownloadRecord,
    in tx: borrowing StoreTransaction
  ) throws -> Bool {
    let url = record.url
    let wanted =
      RootName.isOfOutput(record.root)
      ? FileLayout.exclusiveDestinations(
        root: record.root,
        folder: record.folder,
        filename: record.filename
      ) : [record.destination]
    return try wanted.contains { destination in
      try tx.exists(DownloadRecord.where { $0.destination == destination && $0.url != url })
    }
  }

  /// Gives the record the server's file name, numbered if necessary, unless the user chose the
  /// current name or the two differ only in the number.
  ///
  /// A file that replaces a previous one keeps its name, and so does one that would get a number
  /// although it must not. A type that was derived from the name changes with it.
  ///
  /// - Parameters:
  ///   - name: A safe name; see ``SafeFilename``.
  ///   - record: A record of this store. The caller stores it if it changed.
  ///   - roots: The store's roots.
  ///   - tx: The transaction in which the record was read.
  /// - Throws: `StoreError`; ``RecordStoreError`` with `missingRoot`.
  package func adoptName(
    _ name: String,
    for record: inout DownloadRecord,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws {
    let before = record.filename
    guard !record.isNameGiven, record.replacedFileIdentity == nil,
      SafeFilename.numbered(name, 2) != SafeFilename.numbered(before, 2)
    else { return }
    record.setFilename(name)
    if record.requiresName, try !isFree(record, roots, in: tx) {
      record.setFilename(before)
      return
    }
    try reserveName(for: &record, roots, in: &tx)
    if record.type == Self.type(ofFileNamed: before) {
      record.type = Self.type(ofFileNamed: record.filename)
    }
  }

  /// The extension of a name in lower case; empty if it has none or is too long.
  static func type(ofFileNamed name: String) -> String {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
    let type = name[name.index(after: dot)...].lowercased()
    return type.utf8.count <= 16 ? type : ""
  }
}

extension DownloadRecord {
  /// Sets the file name, and the destination that depends on it.
  mutating func setFilename(_ name: String) {
    filename = name
    destination = FileLayout.destination(root: root, folder: folder, filename: name)
  }
}

extension FileLayout {
  /// The destinations of a location, of which only one record may have one.
  ///
  /// Both roots of `get -o -` have the same folder, and a record may move from one to the other while its
  /// file has its name.
  static func exclusiveDestinations(root: String, folder: String, filename: String) -> [String] {
    let roots =
      RootName.isOfOutput(root) ? [RootName.temporary, RootName.keptOutput] : [root]
    return roots.map { destination(root: $0, folder: folder, filename: filename) }
  }
}

extension DownloadFailure {
  /// The failure of a download that requires a name that another file has.
  package init(nameTaken path: String) {
    self.init(
      .fileSystem,
      "the name \(path) was taken by another file; the downloaded bytes are kept",
      detail: .nameTaken
    )
  }
}
