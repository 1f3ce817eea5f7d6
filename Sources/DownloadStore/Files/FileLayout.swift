/// Where the files of a record lie, as relative names and as paths of this moment.
public struct FileLayout: Sendable, Hashable {
  /// What the name of every file that is not complete ends in.
  public static let partialSuffix = ".dlstore-part"

  /// The folder below which everything lies.
  public let rootPath: String
  /// The folder in which both files lie.
  public let folderPath: String
  /// The finished file.
  public let finalPath: String
  /// The file while it is not complete.
  ///
  /// It lies beside the finished one, so that the last step is a rename. Its name is the record's
  /// id: it stays when the record gets another name, and is known to be ours.
  public let partialPath: String

  /// The files of `record` below the folder `rootPath`.
  public init(record: DownloadRecord, rootPath: String) {
    self.rootPath = rootPath
    folderPath = record.folder.isEmpty ? rootPath : "\(rootPath)/\(record.folder)"
    finalPath = "\(folderPath)/\(record.filename)"
    partialPath = "\(folderPath)/\(record.id)\(Self.partialSuffix)"
  }

  /// The record id in the name of a partial file; `nil` when the name is none of ours.
  public static func recordID(ofPartialNamed name: String) -> String? {
    guard name.hasSuffix(partialSuffix) else { return nil }
    let id = name.dropLast(partialSuffix.count)
    let isID = id.count == 16 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    return isID ? String(id) : nil
  }

  /// What ``DownloadRecord/destination`` is for a place.
  public static func destination(root: String, folder: String, filename: String) -> String {
    folder.isEmpty ? "\(root)/\(filename)" : "\(root)/\(folder)/\(filename)"
  }

  /// A relative folder with `/` between its parts, none of which leads out.
  ///
  /// - Throws: ``DownloadStoreError`` with `invalidName` for an absolute path and for `..`.
  public static func validatedFolder(_ folder: String) throws(DownloadStoreError) -> String {
    let parts = folder.split(separator: "/")
    guard !folder.hasPrefix("/"), !parts.contains(".."), !folder.contains("\0"),
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
