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
  /// The partial file as named by earlier builds, in which stores had no id.
  package let earlierPartialPath: String

  /// Creates the layout of a record's files.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - storeID: The id of the record's store.
  ///   - rootPath: The path of the record's root.
  package init(record: DownloadRecord, storeID: String, rootPath: String) {
    self.rootPath = rootPath
    folderPath = record.folder.isEmpty ? rootPath : "\(rootPath)/\(record.folder)"
    finalPath = "\(folderPath)/\(record.filename)"
    let name = PartialName(recordID: record.id, storeID: storeID)
    partialPath = "\(folderPath)/\(name.text)"
    earlierPartialPath = "\(folderPath)/\(PartialName(recordID: record.id, storeID: nil).text)"
  }

  /// The value of ``DownloadRecord/destination`` for a location.
  package static func destination(root: String, folder: String, filename: String) -> String {
    folder.isEmpty ? "\(root)/\(filename)" : "\(root)/\(folder)/\(filename)"
  }

  /// Returns a normalized relative folder that does not lead out of the root.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidName` for an absolute path, for `..`, and for
  ///   control characters.
  package static func validatedFolder(_ folder: String) throws(RecordStoreError) -> String {
    // Compares scalars: a slash with a combining mark is one Character, but a slash to the file
    // system.
    let scalars = folder.unicodeScalars
    let parts = scalars.split(separator: "/").map { String($0) }
    guard scalars.first != "/", !parts.contains(".."),
      !scalars.contains(where: { $0.properties.generalCategory == .control }),
      parts.allSatisfy({ $0.utf8.count <= SafeFilename.longest })
    else {
      throw RecordStoreError(
        .invalidName,
        "'\(folder)' is not a folder below the root: it must be relative"
      )
    }
    return parts.filter { $0 != "." }.joined(separator: "/")
  }
}
