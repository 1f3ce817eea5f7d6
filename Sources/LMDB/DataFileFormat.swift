/// The layout of the pages of a data file, which LMDB 1.0 changed.
///
/// No version of LMDB reads the files of another format: it answers `MDB_INVALID`, as for a damaged file.
/// The offsets are those of 64-bit systems.
package struct DataFileFormat: Sendable, Hashable {
  /// The number in the meta pages, `MDB_DATA_VERSION`.
  let number: UInt32
  /// The size of the header of a page, in bytes.
  let headerSize: Int
  /// The byte of a page from which the places of its nodes and of its free space count.
  let firstPlace: Int
  /// The size of a node's reference to the pages of a large value, in bytes.
  let largeReferenceSize: Int
  /// Whether the names of databases are stored with the zero byte that ends them in C.
  let namesEndWithZero: Bool

  /// The format of LMDB 0.9.
  static let one = Self(
    number: 1,
    headerSize: 16,
    firstPlace: 0,
    largeReferenceSize: 8,
    namesEndWithZero: false
  )
  /// The format of LMDB 1.0, in which a page and the reference to a large value have the number of the
  /// transaction that wrote them.
  static let two = Self(
    number: 2,
    headerSize: 24,
    firstPlace: 24,
    largeReferenceSize: 24,
    namesEndWithZero: true
  )

  /// The formats that this module reads.
  static let all = [one, two]

  /// The place of the commit's number in a meta page.
  var transactionOffset: Int { headerSize + 128 }

  /// The versions of LMDB that read and write the format, for people.
  package var versions: String { self == .one ? "LMDB 0.9" : "LMDB 1.0" }

  /// The number of the linked LMDB (`mdb_version`), such as `0.9.24`.
  package static let installedVersion: String = {
    let (major, minor, patch) = libraryVersion()
    return "\(major).\(minor).\(patch)"
  }()

  /// The format that the linked LMDB reads and writes.
  ///
  /// The numbers from 0.9.90 on are those of the development of 1.0.
  package static let installed: Self = {
    let (major, minor, patch) = libraryVersion()
    return major == 0 && (minor, patch) < (9, 90) ? .one : .two
  }()

  /// Throws if a page is a meta page of another format than that of the linked LMDB.
  ///
  /// - Throws: ``LMDBError`` with `versionMismatch`.
  static func check(_ bytes: [UInt8]) throws(LMDBError) {
    for format in all where format != installed {
      let page = DataFilePage(bytes: bytes, format: format)
      guard page.isMetaPage else { continue }
      throw LMDBError(
        .versionMismatch,
        operation: """
          the file is one of \(format.versions), which the installed LMDB \(installedVersion) cannot \
          read
          """
      )
    }
  }
}
