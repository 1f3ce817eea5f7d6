internal import DownloadStore

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
