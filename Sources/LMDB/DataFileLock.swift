internal import SystemInterface

/// A lock on a data file, which keeps it from being replaced while a process has it open.
///
/// LMDB's own lock is not enough: a read-only open opens the data file first and takes the lock
/// later, and a file that is replaced in between leaves a wrong commit number in the lock file
/// (decision 0060). Every open shares this lock from before LMDB opens the file until after LMDB has
/// closed it, and a replacement holds it exclusively, on the old file and on the new one.
///
/// The lock belongs to an open file description (`F_OFD_SETLK`), so unlike POSIX locks it conflicts
/// within a process, and closing another descriptor does not release it. An exclusive lock needs
/// write access, so a user who can only read the file cannot block others. The kernel releases it
/// when the process ends.
struct DataFileLock: Sendable {
  let descriptor: Int32
  let identity: EnvironmentRegistry.Identity
  /// The process that took the lock; a forked child must not release it.
  private let owner: pid_t

  /// The first byte of the range, beyond any data: on some file systems locks prevent writing.
  private static let start: off_t = 1 << 62
  /// The bytes after the first one, of which each stands for a lock file.
  private static let lockFiles: off_t = 1 << 32

  private enum Kind {
    case shared, exclusive, none

    var type: Int16 {
      switch self {
      case .shared: Int16(F_RDLCK)
      case .exclusive: Int16(F_WRLCK)
      case .none: Int16(F_UNLCK)
      }
    }
  }

  private init(_ descriptor: Int32) throws(LMDBError) {
    self.descriptor = descriptor
    identity = EnvironmentRegistry.Identity(try EnvironmentFile.status(of: descriptor))
    owner = getpid()
  }

  // MARK: Opening

  /// Opens the data file in a folder and waits for a shared lock on it.
  ///
  /// A missing file is created with the permission bits `creationMode`; if that is `nil`, throws
  /// `noSuchFile`.
  static func share(
    _ folder: String,
    creationMode: UInt32?
  ) throws(LMDBError) -> DataFileLock {
    while true {
      ReplacementStep.begin(.openDataFile)
      let access = creationMode == nil ? O_RDONLY : O_RDWR | O_CREAT
      let mode = creationMode ?? 0
      let descriptor = try StoreFile.open("data.mdb", in: folder, flags: access, mode: mode)
      do throws(LMDBError) {
        let lock = try DataFileLock(descriptor)
        ReplacementStep.begin(.shareDataFile)
        try Self.set(.shared, descriptor, count: 1, waits: true)
        ReplacementStep.begin(.compareDataFile)
        if lock.isNamed(in: folder) { return lock }
      } catch {
        EnvironmentFile.close(descriptor)
        throw error
      }
      // The file was replaced in between, and this process need not wait for its lock.
      EnvironmentFile.close(descriptor)
    }
  }

  /// Fails if another process has this data file open with another lock file.
  ///
  /// A lock file that a user has deleted or replaced still serves the processes that opened it
  /// before, and nothing would keep them and the later ones from writing at the same time.
  ///
  /// - Throws: ``LMDBError`` with `busy`.
  func announce(_ lockFile: EnvironmentRegistry.Identity) throws(LMDBError) {
    let own = Self.start + 1 + off_t(lockFile.inode % UInt64(Self.lockFiles))
    try Self.set(.shared, descriptor, from: own, count: 1, waits: false)
    ReplacementStep.begin(.compareLockFiles)
    // Two processes with different lock files see each other, because each has announced its own.
    let others = [
      (start: Self.start + 1, end: own), (start: own + 1, end: Self.start + 1 + Self.lockFiles),
    ]
    for range in others where range.start < range.end {
      if Self.isLocked(descriptor, from: range.start, count: range.end - range.start) {
        throw LMDBError(
          .busy,
          operation: """
            opening with another lock.mdb than other processes use: lock.mdb was deleted or \
            replaced while they had the environment open
            """
        )
      }
    }
  }

  // MARK: Replacing

  /// Takes an exclusive lock on the data file in a folder, without waiting.
  ///
  /// - Throws: ``LMDBError`` with `busy` if a process has the file open.
  static func claim(_ folder: String) throws(LMDBError) -> DataFileLock {
    ReplacementStep.begin(.claimDataFile)
    let lock = try exclusive("data.mdb", in: folder)
    ReplacementStep.begin(.compareClaimedFile)
    guard lock.isNamed(in: folder) else {
      lock.release()
      throw LMDBError(.busy, operation: "exclusive access: another process has replaced the file")
    }
    return lock
  }

  /// Takes an exclusive lock on a new file that will replace the data file.
  ///
  /// Processes that open the data file after its replacement wait for this lock.
  static func claim(newFile name: String, in folder: String) throws(LMDBError) -> DataFileLock {
    ReplacementStep.begin(.claimNewFile)
    return try exclusive(name, in: folder)
  }

  private static func exclusive(
    _ name: String,
    in folder: String
  ) throws(LMDBError) -> DataFileLock {
    let descriptor = try StoreFile.open(name, in: folder, flags: O_RDWR)
    do throws(LMDBError) {
      try set(.exclusive, descriptor, count: 0, waits: false)
      return try DataFileLock(descriptor)
    } catch {
      EnvironmentFile.close(descriptor)
      throw error
    }
  }

  // MARK: Both

  /// Releases the lock and closes the file.
  ///
  /// Not with `close` alone: a child that is between `fork` and `exec` still has the descriptor.
  func release() {
    if getpid() == owner { try? Self.set(.none, descriptor, count: 0, waits: false) }
    EnvironmentFile.close(descriptor)
  }

  private func isNamed(in folder: String) -> Bool {
    EnvironmentRegistry.identity(of: folder + "/data.mdb") == identity
  }

  #if canImport(Darwin)
    private static let (query, attempt, wait): (Int32, Int32, Int32) = (92, 90, 91)
  #else
    // F_OFD_GETLK, F_OFD_SETLK and F_OFD_SETLKW, which <fcntl.h> declares with _GNU_SOURCE alone.
    private static let (query, attempt, wait): (Int32, Int32, Int32) = (36, 37, 38)
  #endif

  private static func range(_ kind: Kind, from first: off_t, count: off_t) -> flock {
    var lock = flock()
    lock.l_type = kind.type
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = first
    // Zero is the rest of the file.
    lock.l_len = count
    return lock
  }

  private static func set(
    _ kind: Kind,
    _ descriptor: Int32,
    from first: off_t = start,
    count: off_t,
    waits: Bool
  ) throws(LMDBError) {
    while true {
      var lock = range(kind, from: first, count: count)
      guard fcntl(descriptor, waits ? wait : attempt, &lock) != 0 else { return }
      switch errno {
      case EINTR: continue
      case EAGAIN, EACCES:
        throw LMDBError(.busy, operation: "exclusive access: the data file is in use")
      // gVisor does not know these locks. There one lock covers the whole file.
      case EINVAL:
        if first == start { try setWhole(kind, descriptor, waits: waits) }
        return
      default: throw LMDBError(LMDBError.Code(rawValue: errno), operation: "fcntl")
      }
    }
  }

  private static func setWhole(
    _ kind: Kind,
    _ descriptor: Int32,
    waits: Bool
  ) throws(LMDBError) {
    let operation =
      switch kind {
      case .shared: LOCK_SH
      case .exclusive: LOCK_EX
      case .none: LOCK_UN
      }
    while flock(descriptor, waits ? operation : operation | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK:
        throw LMDBError(.busy, operation: "exclusive access: the data file is in use")
      default: throw LMDBError(LMDBError.Code(rawValue: errno), operation: "flock")
      }
    }
  }

  /// Returns whether another descriptor has a lock in the range.
  private static func isLocked(_ descriptor: Int32, from first: off_t, count: off_t) -> Bool {
    var lock = range(.exclusive, from: first, count: count)
    guard fcntl(descriptor, query, &lock) == 0 else { return false }
    return lock.l_type != Int16(F_UNLCK)
  }
}
