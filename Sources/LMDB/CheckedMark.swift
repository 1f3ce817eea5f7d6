internal import SystemInterface

/// A mark on a data file which shows that only commits have changed it since its pages were
/// checked.
///
/// The mark is the sub-second part of the file's modification time: a hash of its inode and of the
/// number of its last transaction. A commit sets the mark after LMDB has written the file, and so
/// does a compaction. Any other change of the file, a copy, or an interrupted commit leaves a
/// different time, and the pages are checked when the file is next opened.
///
/// The mark of an unsynced commit is valid until the system restarts, because a power cut may
/// preserve the time and lose pages. On file systems whose timestamps are coarser than 100 ns, no
/// mark is ever valid.
enum CheckedMark {
  /// Returns whether the modification time is the mark for the file and the transaction.
  static func isValid(_ status: stat, transaction: UInt64) -> Bool {
    let fraction = Int(status.modificationTime.tv_nsec)
    let inode = UInt64(status.st_ino)
    return [true, false].contains { isSynced in
      fraction == nanoseconds(inode: inode, transaction: transaction, isSynced: isSynced)
    }
  }

  /// Returns whether the modification times are equal.
  static func isUnchanged(_ now: stat, _ before: stat) -> Bool {
    let (one, other) = (now.modificationTime, before.modificationTime)
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec
  }

  /// `UTIME_OMIT`, a macro that Swift does not import.
  #if canImport(Darwin)
    private static let omitted = -2
  #else
    private static let omitted = (1 << 30) - 2
  #endif

  /// Marks the file; has no effect if the process does not own it.
  static func set(_ descriptor: Int32, inode: UInt64, transaction: UInt64, isSynced: Bool) {
    guard let now = wallClockTime() else { return }
    let fraction = nanoseconds(inode: inode, transaction: transaction, isSynced: isSynced)
    // Round up: with a time before the commit, an incremental backup could miss the change.
    let seconds = fraction < Int(now.tv_nsec) ? now.tv_sec + 1 : now.tv_sec
    _ = futimens(
      descriptor,
      access: timespec(tv_sec: 0, tv_nsec: omitted),
      change: timespec(tv_sec: seconds, tv_nsec: fraction)
    )
  }

  /// Returns a number of nanoseconds less than a second.
  ///
  /// It is a multiple of 100, because some file systems round to that.
  private static func nanoseconds(inode: UInt64, transaction: UInt64, isSynced: Bool) -> Int {
    var hash = mixed(inode &+ 0x6F62_6A65_6374_7301)
    hash = mixed(hash ^ transaction)
    if !isSynced { hash = mixed(hash ^ systemStart) }
    return Int(hash % 9_999_999 + 1) * 100
  }

  /// The finalizer of SplitMix64.
  private static func mixed(_ value: UInt64) -> UInt64 {
    var value = value
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// A number that is the same in all processes until the system restarts, or a random number if
  /// the system provides none.
  private static let systemStart: UInt64 = {
    var text = [UInt8](repeating: 0, count: 64)
    #if canImport(Darwin)
      let isRead = readSystemValue("kern.bootsessionuuid", into: &text)
    #else
      let path = "/proc/sys/kernel/random/boot_id"
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return .random(in: .min ... .max) }
      text = DataFileReader.read(descriptor, at: 0, count: text.count)
      EnvironmentFile.close(descriptor)
      let isRead = !text.isEmpty
    #endif
    guard isRead else { return .random(in: .min ... .max) }
    return text.reduce(0) { mixed($0 ^ UInt64($1)) }
  }()
}
