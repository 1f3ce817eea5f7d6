internal import LMDB
internal import SystemInterface

/// The compaction of a closed store if a rule applies to its file.
struct Compaction {
  let path: String
  let rule: CompactionRule

  /// Compacts the store before it is opened.
  ///
  /// Never throws: opening a store that cannot be compacted still succeeds, or reports the error.
  func runBeforeOpening(_ log: StoreLog?) {
    guard (try? FileSize.of(path + "/data.mdb")) != nil else { return }
    do {
      guard let bytes = try run() else { return }
      log?.didCompact(path, bytes: bytes)
    } catch {
      log?.didFailToCompact(path, error)
    }
  }

  /// Compacts the store.
  ///
  /// - Returns: The number of bytes by which the file shrank; `nil` if the rule does not apply.
  func run() throws -> Int64? {
    // The size alone rules out most stores, with one system call.
    let size = try FileSize.of(path + "/data.mdb")
    guard size >= rule.minimumFileSize else { return nil }
    let free = try Environment.open(path).freeByteCount()
    guard rule.applies(fileSize: size, freeBytes: free) else { return nil }
    // A killed process may have left a copy.
    for leftover in NewFileFolder.abandoned(in: path) { leftover.remove() }
    if let available = FreeSpace.ofDisk(at: path), available < size - free {
      let needed = "the copy needs \((size - free) >> 10) KiB"
      throw StoreError(.diskFull, "\(needed), and the disk has \(available >> 10) KiB")
    }
    return try Store.compact(at: path)
  }
}

/// The condition for compacting a store's file; see ``StoreOptions/compaction`` and
/// ``Store/compact(at:if:)``.
///
/// LMDB reuses free pages but never shrinks its file, so a store that was large once stays large on
/// disk. Compaction copies the pages in use to a new file, which pays off when much of the file is
/// free.
public struct CompactionRule: Sendable, Hashable {
  /// The minimum file size, in bytes; smaller files are not compacted.
  public var minimumFileSize: Int64
  /// The minimum fraction of the file that must be free, from 0 to 1.
  public var minimumFreeFraction: Double
  /// The maximum size of the pages in use, in bytes: how much a compaction may copy.
  public var maximumCopySize: Int64

  /// Creates a rule.
  ///
  /// By default, a file of at least 64 MiB is compacted when half of it is free, however much must be
  /// copied.
  public init(
    minimumFileSize: Int64 = 64 << 20,
    minimumFreeFraction: Double = 0.5,
    maximumCopySize: Int64 = .max
  ) {
    self.minimumFileSize = minimumFileSize
    self.minimumFreeFraction = minimumFreeFraction
    self.maximumCopySize = maximumCopySize
  }

  /// Returns whether a file of `fileSize` bytes, `freeBytes` of them free, is to be compacted.
  ///
  /// A file without free bytes never is.
  package func applies(fileSize: Int64, freeBytes: Int64) -> Bool {
    guard freeBytes > 0, fileSize >= minimumFileSize, fileSize - freeBytes <= maximumCopySize else {
      return false
    }
    return Double(freeBytes) >= minimumFreeFraction * Double(fileSize)
  }
}

extension Store {
  /// Returns the free pages of a closed store to the file system.
  ///
  /// Writes a compact copy beside the file and then replaces the file with it atomically: if the
  /// process is killed, either the old file or the new one is left. Needs disk space for the copy.
  /// Commit numbers continue, so history tokens stay valid. The file keeps its owner and permissions.
  ///
  /// - Returns: The number of bytes by which the file shrank.
  /// - Throws: ``StoreError`` with `busy` if this process or another one has the store open,
  ///   `notFound`, `permissionDenied`, `diskFull`, `inputOutput`, `damaged`, or `tooNew` if a later
  ///   version has changed the storage format. The store is then unchanged.
  @discardableResult
  public static func compact(at path: String) throws -> Int64 {
    try translating("compacting \(path)") {
      try requireDataFile(at: path)
      let before = try FileSize.of(path + "/data.mdb")
      try Environment.compact(path) { try StoreOpening.requireKnownFormat($0) }
      return max(before - (try FileSize.of(path + "/data.mdb")), 0)
    }
  }

  /// Returns the free pages of a closed store to the file system, if a rule applies to its file.
  ///
  /// Use this after a large import or deletion. LMDB reuses the pages that were freed longest ago,
  /// so with many free pages later commits write to scattered places of the file.
  ///
  /// ```swift
  /// try Store.compact(at: folder, if: CompactionRule(minimumFreeFraction: 0.1))
  /// ```
  ///
  /// Costs O(n) in the number of commits whose freed pages have not been reused, and, if the rule
  /// applies, as much as ``compact(at:)``. The file is replaced in the same way.
  ///
  /// - Returns: The number of bytes by which the file shrank; `nil` if the rule does not apply.
  /// - Throws: ``StoreError`` as ``compact(at:)``. If the disk has too little free space for the copy,
  ///   `diskFull` is thrown before anything is written.
  @discardableResult
  public static func compact(at path: String, if rule: CompactionRule) throws -> Int64? {
    try translating("compacting \(path)") {
      try requireDataFile(at: path)
      return try Compaction(path: path, rule: rule).run()
    }
  }

  /// Checks that the data file is one, and not a link, whatever a link names.
  private static func requireDataFile(at path: String) throws {
    close(try StoreFile.open("data.mdb", in: path, flags: O_RDONLY))
  }
}

extension Store {
  /// Removes the unfinished copies, exports and new stores of this process, which then fail.
  ///
  /// For a process that is about to end because of a signal.
  package static func abandonUnfinishedWork() {
    UnfinishedWork.abandon()
  }
}
