/// The paths of a record's files.
package struct FileLayout: Sendable, Hashable {
  /// The path of the root.
  package let rootPath: String
  /// The folder that contains both files.
  package let folderPath: String
  /// The finished file.
  package let finalPath: String
  /// The partial file.
  ///
  /// It is beside the finished file, so that the last step is a rename. Its ``PartialName`` is
  /// unique to the record and the store, and does not change with the record's file name.
  package let partialPath: String
  /// Whether the root is known, and the record's folder and file name are valid, so that no path
  /// leads out of the root.
  ///
  /// Every stored name was validated. Damage or another program may have changed it since.
  package let isBelowRoot: Bool

  /// The copy of the finished file that is to be kept beside a newer one, until it is complete.
  ///
  /// Few downloads ever need it, and each record has a layout, so it is not stored.
  package var versionCopyPath: String { partialPath + PartialName.copySuffix }

  /// Creates the layout of a record's files.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - storeID: The id of the record's store.
  ///   - path: The path of the record's root; `nil` if the root is unknown. The paths of the files
  ///     are then below one that no file can have.
  package init(record: DownloadRecord, storeID: String, rootPath path: String?) {
    let rootPath = path ?? "/dev/null/unknown"
    self.rootPath = rootPath
    folderPath = record.folder.isEmpty ? rootPath : "\(rootPath)/\(record.folder)"
    finalPath = "\(folderPath)/\(record.filename)"
    let name = PartialName(recordID: record.id, storeID: storeID)
    partialPath = "\(folderPath)/\(name.text)"
    isBelowRoot =
      path != nil
      && (try? Self.validatedFolder(record.folder)) == record.folder
      && !["", ".", ".."].contains(record.filename)
      && !record.filename.utf8.contains(UInt8(ascii: "/"))
  }

  /// The value of ``DownloadRecord/destination`` for a location.
  package static func destination(root: String, folder: String, filename: String) -> String {
    folder.isEmpty ? "\(root)/\(filename)" : "\(root)/\(folder)/\(filename)"
  }

  /// Returns a normalized relative folder that does not lead out of the root.
  ///
  /// - Parameters:
  ///   - folder: The path.
  ///   - acceptsHidden: Whether a folder in it may be hidden.
  /// - Returns: The folder.
  /// - Throws: ``RecordStoreError`` with `invalidName` for an absolute path, for `..`, for control
  ///   characters, and for a path that is too long or hidden.
  package static func validatedFolder(
    _ folder: String,
    acceptsHidden: Bool = true
  ) throws(RecordStoreError) -> String {
    guard !folder.isEmpty else { return folder }
    // Compares scalars: a slash with a combining mark is one Character, but a slash to the file
    // system.
    let scalars = folder.unicodeScalars
    let parts = scalars.split(separator: "/").map { String($0) }
    guard scalars.first != "/", !parts.contains(".."),
      !scalars.contains(where: { $0.properties.generalCategory == .control }),
      parts.allSatisfy({ $0.utf8.count <= SafeFilename.longest }),
      folder.utf8.count <= RecordLimits.folderLength
    else {
      throw RecordStoreError(
        .invalidName,
        folder.utf8.count <= RecordLimits.folderLength
          ? "'\(folder)' is not a folder below the root: it must be relative"
          : "a folder is longer than \(RecordLimits.folderLength) bytes"
      )
    }
    guard acceptsHidden || !isHidden(folder) else {
      throw RecordStoreError(.invalidName, "the folder '\(folder)' is hidden")
    }
    return parts.filter { $0 != "." }.joined(separator: "/")
  }

  /// Whether a folder in a path is hidden, because its name begins with a dot.
  ///
  /// The user may name such a folder. A document that comes from elsewhere may not: `.ssh` and
  /// `.config` have files that other programs obey.
  package static func isHidden(_ path: String) -> Bool {
    path.unicodeScalars.split(separator: "/").contains { $0.first == "." && $0.count > 1 }
  }
}

/// The name of a partial file, which identifies its record and its store.
///
/// Several stores may share a folder and contain the same URL, so the record's id alone is not
/// enough.
package struct PartialName: Sendable, Hashable {
  /// The suffix of all such names.
  package static let suffix = ".dlstore-part"
  /// What follows the name in that of the copy of a finished file that is to be kept beside a newer one.
  fileprivate static let copySuffix = ".version"

  /// The id of the record.
  package var recordID: String
  /// The id of the store.
  package var storeID: String

  /// Creates the name of a record's partial file.
  package init(recordID: String, storeID: String) {
    self.recordID = recordID
    self.storeID = storeID
  }

  /// Parses a file name; `nil` if it does not name a partial file.
  package init?(_ text: String) {
    guard text.utf8.count > Self.suffix.utf8.count, text.utf8.allSatisfy({ $0 < 0x80 }),
      text.hasSuffix(Self.suffix)
    else { return nil }
    let ids = text.dropLast(Self.suffix.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard ids.count == 2, ids.allSatisfy(RecordIdentity.isID) else { return nil }
    recordID = String(ids[0])
    storeID = String(ids[1])
  }

  /// Parses the name of such a copy; `nil` if it is none.
  package init?(ofCopy text: String) {
    guard text.hasSuffix(Self.copySuffix) else { return nil }
    self.init(String(text.dropLast(Self.copySuffix.count)))
  }

  /// The name.
  package var text: String { "\(recordID)-\(storeID)\(Self.suffix)" }
}
