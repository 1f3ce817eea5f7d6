/// The layout of the pages of a data file, which LMDB 1.0 changed.
///
/// The number of a format is that in the meta pages, `MDB_DATA_VERSION`. No version of LMDB reads the
/// files of another format: it answers `MDB_INVALID`, as for a damaged file. The offsets are those of
/// 64-bit systems.
package enum DataFileFormat: UInt32, Sendable, CaseIterable {
  /// The format of LMDB 0.9.
  case one = 1
  /// The format of LMDB 1.0, in which a page and the reference to a large value have the number of the
  /// transaction that wrote them.
  case two = 2

  /// The size of the header of a page, in bytes.
  var headerSize: Int { self == .one ? 16 : 24 }
  /// The byte of a page from which the places of its nodes and of its free space count.
  var firstPlace: Int { self == .one ? 0 : 24 }
  /// The size of a node's reference to the pages of a large value, in bytes.
  var largeReferenceSize: Int { self == .one ? 8 : 24 }
  /// Whether the names of databases are stored with the zero byte that ends them in C.
  var namesEndWithZero: Bool { self == .two }

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

  /// Returns the error for a file of the format with a number, which the linked LMDB cannot read.
  static func mismatch(_ number: UInt32) -> LMDBError {
    let file = Self(rawValue: number)?.versions ?? "an unknown version of LMDB (format \(number))"
    let reason = "which the installed LMDB \(installedVersion) cannot read"
    return LMDBError(.versionMismatch, operation: "the file is one of \(file), \(reason)")
  }
}
