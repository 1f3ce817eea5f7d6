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
    let bytes = name.utf8
    guard bytes.count == 16 + partialSuffix.utf8.count,
      bytes.suffix(partialSuffix.utf8.count).elementsEqual(partialSuffix.utf8)
    else { return nil }
    let isID = bytes.prefix(16).allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
    return isID ? String(name.prefix(16)) : nil
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
