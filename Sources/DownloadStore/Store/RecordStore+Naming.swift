package import ObjectStore

extension RecordStore {
  /// Gives the record a name that no other record and no file has, numbered if necessary.
  ///
  /// - Parameters:
  ///   - record: A record with the wanted name. The caller stores it.
  ///   - roots: The store's roots.
  ///   - tx: The transaction in which the record is stored, which makes the reservation.
  /// - Throws: ``StoreError``; ``RecordStoreError`` with `missingRoot`.
  /// - Complexity: O(log n) lookups of records and files, for n taken numbers.
  package func reserveName(
    for record: inout DownloadRecord,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws {
    let wanted = record.filename
    if try take(wanted, for: &record, roots, in: &tx) { return }
    // Thousands of URLs may suggest the same name: the number is found by doubling, then by
    // bisection of the run of taken numbers.
    var taken = 1
    var free = 2
    while try !take(SafeFilename.numbered(wanted, free), for: &record, roots, in: &tx) {
      taken = free
      free *= 2
    }
    while free - taken > 1 {
      let middle = (taken + free) / 2
      if try take(SafeFilename.numbered(wanted, middle), for: &record, roots, in: &tx) {
        free = middle
      } else {
        taken = middle
      }
    }
    _ = try take(SafeFilename.numbered(wanted, free), for: &record, roots, in: &tx)
  }

  /// Sets the record's name; returns whether the name is free.
  func take(
    _ filename: String,
    for record: inout DownloadRecord,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws -> Bool {
    record.filename = filename
    record.destination = FileLayout.destination(
      root: record.root,
      folder: record.folder,
      filename: filename
    )
    guard FileInspection(of: record, in: try roots.layout(of: record)).final == .missing else {
      return false
    }
    return try !isReserved(record, in: tx)
  }

  /// Whether another record has the same destination.
  func isReserved(
    _ record: DownloadRecord,
    in tx: borrowing StoreTransaction
  ) throws -> Bool {
    let destination = record.destination
    let url = record.url
    return try tx.exists(
      DownloadRecord.where { $0.destination == destination && $0.url != url }
    )
  }

  /// Gives the record the server's file name, numbered if necessary, unless the user chose the
  /// current name or the two differ only in the number.
  ///
  /// A file that replaces a previous one keeps its name. A type that was derived from the name
  /// changes with it.
  ///
  /// - Parameters:
  ///   - name: A safe name; see ``SafeFilename``.
  ///   - record: A record of this store. The caller stores it if it changed.
  ///   - roots: The store's roots.
  ///   - tx: The transaction in which the record was read.
  /// - Throws: ``StoreError``; ``RecordStoreError`` with `missingRoot`.
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
    record.filename = name
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
