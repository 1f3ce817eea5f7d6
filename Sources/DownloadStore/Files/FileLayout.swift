/// Where the files of a record lie, as relative names and as paths of this moment.
public struct FileLayout: Sendable, Hashable {
  /// The folder below which everything lies.
  public let rootPath: String
  /// The folder in which both files lie.
  public let folderPath: String
  /// The finished file.
  public let finalPath: String
  /// The file while it is not complete.
  ///
  /// It lies beside the finished one, so that the last step is a rename. Its ``PartialName`` stays
  /// when the record gets another name, and is that of no other record or store.
  public let partialPath: String
  /// The partial file as builds called it that did not give stores an id.
  package let earlierPartialPath: String

  /// The files of `record`, of the store with the id `storeID`, below the folder `rootPath`.
  public init(record: DownloadRecord, storeID: String, rootPath: String) {
    self.rootPath = rootPath
    folderPath = record.folder.isEmpty ? rootPath : "\(rootPath)/\(record.folder)"
    finalPath = "\(folderPath)/\(record.filename)"
    let name = PartialName(recordID: record.id, storeID: storeID)
    partialPath = "\(folderPath)/\(name.text)"
    earlierPartialPath = "\(folderPath)/\(PartialName(recordID: record.id, storeID: nil).text)"
  }

  /// What ``DownloadRecord/destination`` is for a place.
  public static func destination(root: String, folder: String, filename: String) -> String {
    folder.isEmpty ? "\(root)/\(filename)" : "\(root)/\(folder)/\(filename)"
  }

  /// A relative folder with `/` between its parts, none of which leads out.
  ///
  /// - Throws: ``DownloadStoreError`` with `invalidName` for an absolute path, for `..`, and for
  ///   control characters.
  public static func validatedFolder(_ folder: String) throws(DownloadStoreError) -> String {
    // Of scalars and not of characters: a slash and a mark that combines with it are one character,
    // and a slash to the file system.
    let scalars = folder.unicodeScalars
    let parts = scalars.split(separator: "/").map { String($0) }
    guard scalars.first != "/", !parts.contains(".."),
      !scalars.contains(where: { $0.properties.generalCategory == .control }),
      parts.allSatisfy({ $0.utf8.count <= SafeFilename.longest })
    else {
      throw DownloadStoreError(
        .invalidName,
        "'\(folder)' is not a folder below the root: it must be relative"
      )
    }
    return parts.filter { $0 != "." }.joined(separator: "/")
  }
}
