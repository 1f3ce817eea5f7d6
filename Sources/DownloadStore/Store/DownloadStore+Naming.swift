public import ObjectStore

extension DownloadStore {
  /// Gives the record the first name, numbered if need be, that no other record and no file has.
  public func reserveName(
    for record: inout DownloadRecord,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws {
    let wanted = record.filename
    if try take(wanted, for: &record, roots, in: &tx) { return }
    // Thousands of URLs may suggest one name: the steps double until a number is free, and halve
    // to the first one after those that are taken in a row.
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

  /// Gives the record the name, and says whether no other record and no file has it.
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
    guard FileFacts(of: record, in: try roots.layout(of: record)).final == .missing else {
      return false
    }
    return try !isReserved(record, in: tx)
  }

  /// Whether another record has the record's place.
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

  /// Gives the record the name that a server has for the file, numbered if need be, unless its
  /// present one was asked for or is the same but for a number.
  ///
  /// A file that takes the place of the one before it keeps that one's name. The type goes along if
  /// it was made of the name.
  ///
  /// - Parameters:
  ///   - name: One harmless component, as ``SafeFilename`` makes it.
  ///   - record: A record of this store; to be stored by the caller when it has changed.
  ///   - roots: Where the roots are.
  ///   - tx: The transaction in which the record was read.
  /// - Throws: ``StoreError``; ``DownloadStoreError`` when the record's root is unknown.
  public func adoptName(
    _ name: String,
    for record: inout DownloadRecord,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws {
    let before = record.filename
    guard !record.isNameGiven, record.replacedStamp == nil,
      SafeFilename.numbered(name, 2) != SafeFilename.numbered(before, 2)
    else { return }
    record.filename = name
    try reserveName(for: &record, roots, in: &tx)
    if record.type == Self.type(ofFileNamed: before) {
      record.type = Self.type(ofFileNamed: record.filename)
    }
  }

  /// The extension of a name, in lower case; empty when it has none, or too long a one.
  static func type(ofFileNamed name: String) -> String {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
    let type = name[name.index(after: dot)...].lowercased()
    return type.utf8.count <= 16 ? type : ""
  }
}
