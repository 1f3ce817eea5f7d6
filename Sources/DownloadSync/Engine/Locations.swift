internal import DownloadStore
internal import SystemInterface

/// Knows the folders and volumes of the records' files.
///
/// Owns the roots of the store as they were last read, and the volume of each folder.
struct Locations {
  private(set) var roots: Roots
  /// The volumes by folder; cleared with the roots, which may have changed.
  private var volumes: [String: UInt64] = [:]

  init(_ roots: Roots) {
    self.roots = roots
  }

  /// Replaces the roots by those that the store contains now.
  mutating func update(_ roots: Roots) {
    self = Self(roots)
  }

  /// Reads the roots again if that of a record is not known.
  ///
  /// Another process may have added both, and the engine reads the record before it reads the change.
  ///
  /// - Throws: `StoreError`.
  mutating func update(for records: [DownloadRecord], in store: RecordStore) throws {
    guard records.contains(where: { roots.path(of: $0.root) == nil }) else { return }
    update(try store.roots())
  }

  /// Returns the paths of a record's files.
  ///
  /// - Throws: `RecordStoreError` with `missingRoot`.
  func layout(of record: DownloadRecord) throws(RecordStoreError) -> FileLayout {
    try roots.layout(of: record)
  }

  /// Returns the volume of a record's files; 0 if its root is unknown.
  ///
  /// Costs some `stat` for a folder that is not known yet.
  mutating func volume(of record: DownloadRecord) -> UInt64 {
    guard let folder = try? roots.layout(of: record).folderPath else { return 0 }
    if let known = volumes[folder] { return known }
    let volume = Volume.identifier(ofFolder: folder)
    volumes[folder] = volume
    return volume
  }
}

/// Queries about the volumes that contain the downloaded files.
enum Volume {
  /// Returns the device number of the volume that contains a folder, or will contain it.
  ///
  /// A folder that does not exist yet gets the volume of its nearest existing parent folder.
  ///
  /// - Parameter path: The absolute path of the folder.
  /// - Returns: The device number; 0 if it cannot be determined.
  static func identifier(ofFolder path: String) -> UInt64 {
    var path = path[...]
    while true {
      var status = stat()
      if statFollowingLinks(path.isEmpty ? "/" : String(path), &status) == 0 {
        return UInt64(truncatingIfNeeded: status.st_dev)
      }
      guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return 0 }
      path = path[..<slash]
    }
  }

  /// Returns the number of bytes that this process may still write to the volume of a folder.
  ///
  /// The corresponding C function is `statvfs`.
  ///
  /// - Parameter path: The path of an existing folder.
  /// - Returns: The free space in bytes; `nil` if it cannot be queried.
  static func availableBytes(inFolder path: String) -> Int64? {
    guard let status = volumeStatus(ofFolder: path) else { return nil }
    let (bytes, isOver) = UInt64(status.f_bavail)
      .multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isOver ? .max : Int64(clamping: bytes)
  }
}
