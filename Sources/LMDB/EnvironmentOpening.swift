internal import CLMDB
internal import SystemInterface

/// Opens the files of an environment, in the steps of ``ReplacementStep``.
struct EnvironmentOpening {
  let path: String
  let options: EnvironmentOptions
  let kind: Environment.Kind

  /// An open handle of LMDB, and the locks of its files.
  struct Opened {
    let handle: EnvironmentHandle
    let dataLock: DataFileLock?
    let lockFile: EnvironmentRegistry.Identity?
    let clearedReaders: Int

    func close() {
      environmentClose(handle)
      dataLock?.release()
    }
  }

  private static let maximumAttempts = 100
  private static let pause: UInt32 = 10_000
  private static let smallestMap = 64 << 20
  private var isReadOnly: Bool { options.isReadOnly || kind == .immutable }

  /// Opens the environment; waits while a process replaces its data file.
  func run() throws(LMDBError) -> Opened {
    var attempts = 0
    while true {
      do throws(LMDBError) {
        if let opened = try attempt() { return opened }
      } catch {
        attempts += 1
        // LMDB may have met the lock file of a process that was killed while it wrote it. And the
        // system reports a deadlock if two processes wait for each other's lock files, although
        // each soon releases its lock, on another thread.
        let mayPass = error.code == .invalid && attempts < 3 || error.code == .wouldDeadlock
        guard mayPass, attempts < Self.maximumAttempts else { throw error }
        usleep(1_000)
        continue
      }
      attempts += 1
      guard attempts < Self.maximumAttempts else {
        throw LMDBError(
          .busy,
          operation: """
            opening: the files of the environment change, or lock.mdb belongs to another data.mdb; \
            end all programs that use it
            """
        )
      }
      usleep(Self.pause)
    }
  }

  /// Opens the environment once; returns `nil` if its files were replaced meanwhile.
  private func attempt() throws(LMDBError) -> Opened? {
    let dataLock = try shareDataFile()
    do throws(LMDBError) {
      ReplacementStep.begin(.announceLockFile)
      var lockFile: EnvironmentRegistry.Identity?
      if kind == .shared || kind == .inMemory {
        lockFile = try EnvironmentFile.prepareLockFile(in: path, options: options)
      }
      if let lockFile { try dataLock?.announce(lockFile) }
      // LMDB would try to write the meta pages.
      if isReadOnly, EnvironmentFile.isEmpty(in: path) {
        throw LMDBError(.noSuchFile, operation: LMDBError.openingEmptyFile)
      }
      if kind != .inMemory { try DataFileReader.checkMetaPages(in: path) }
      ReplacementStep.begin(.openEnvironment)
      let handle = try openHandle()
      do throws(LMDBError) {
        if try isCurrent(handle, dataLock, lockFile) {
          return Opened(
            handle: handle,
            dataLock: dataLock,
            lockFile: lockFile,
            clearedReaders: try environmentCheckReaders(handle)
          )
        }
        environmentClose(handle)
      } catch {
        environmentClose(handle)
        throw error
      }
    } catch {
      dataLock?.release()
      throw error
    }
    dataLock?.release()
    return nil
  }

  private func shareDataFile() throws(LMDBError) -> DataFileLock? {
    switch kind {
    case .shared:
      return try DataFileLock.share(path, creationMode: isReadOnly ? nil : options.fileMode)
    case .immutable:
      do throws(LMDBError) {
        return try DataFileLock.share(path, creationMode: nil)
      } catch {
        // A file system without locks. The caller says that nobody replaces the file.
        guard [ENOLCK, ENOSYS, ENOTSUP].contains(error.code.rawValue) else { throw error }
        return nil
      }
    // Only this process uses the files.
    case .unlocked, .inMemory: return nil
    }
  }

  /// Whether LMDB has opened the locked files, and trusts the right commit.
  private func isCurrent(
    _ handle: EnvironmentHandle,
    _ dataLock: DataFileLock?,
    _ lockFile: EnvironmentRegistry.Identity?
  ) throws(LMDBError) -> Bool {
    ReplacementStep.begin(.compareEnvironment)
    let descriptor = try environmentDescriptor(handle)
    let identity = EnvironmentRegistry.Identity(try EnvironmentFile.status(of: descriptor))
    if let dataLock, dataLock.identity != identity { return false }
    guard kind == .shared else { return true }
    guard EnvironmentRegistry.identity(of: path + "/lock.mdb") == lockFile else { return false }
    ReplacementStep.begin(.compareCommitNumber)
    return try hasCommitNumber(handle, ofFile: descriptor)
  }

  /// Whether the commit number in the lock file is that of the last commit in the data file.
  ///
  /// Otherwise LMDB would read an old meta page, which may be empty. The number is wrong after a
  /// program that opens the environment without our lock has written that of a file that was
  /// replaced, and after a kill while LMDB initialized the lock file.
  private func hasCommitNumber(
    _ handle: EnvironmentHandle,
    ofFile descriptor: Int32
  ) throws(LMDBError) -> Bool {
    for _ in 0..<10 {
      // Without a free reader slot, the first transaction reports the reason.
      guard let number = try? withTransaction(handle, flags: MDB_RDONLY, { $0 }) else {
        return true
      }
      let commits = try DataFileReader.transactions(of: descriptor)
      if number == commits.last { return true }
      // A writer has written the file, but not yet the lock file, or was killed in between. The
      // first write checks the number again.
      if number > 0, number + 1 == commits.last, number == commits.previous { return true }
    }
    return false
  }

  /// Opens a handle with the largest map that the system grants.
  private func openHandle() throws(LMDBError) -> EnvironmentHandle {
    var flags = MDB_NOTLS | MDB_NORDAHEAD
    switch kind {
    case .shared: break
    case .immutable, .unlocked: flags |= MDB_NOLOCK
    case .inMemory: flags |= MDB_NOSYNC
    }
    if isReadOnly { flags |= MDB_RDONLY }
    var mapSize = options.mapSize
    while true {
      // After a failed `mdb_env_open` the handle can only be closed, so each attempt creates one.
      let handle = try environmentCreate()
      do throws(LMDBError) {
        try environmentSetLimits(
          handle,
          mapSize: mapSize,
          readers: UInt32(options.maximumReaders),
          databases: UInt32(options.maximumDatabases)
        )
        try environmentReportAssertions(handle)
        try environmentOpen(handle, path: path, flags: flags, mode: options.fileMode)
        // LMDB sets this flag only on its other descriptors.
        try EnvironmentFile.closeOnExec(environmentDescriptor(handle))
        return handle
      } catch {
        environmentClose(handle)
        // The system reports too little address space as either of these codes.
        guard error.code == .outOfMemory || error.code == .invalidArgument,
          mapSize > Self.smallestMap
        else { throw error }
        mapSize /= 2
      }
    }
  }

  /// Opens an environment only so that LMDB initializes the lock file.
  static func openForLockFile(_ handle: EnvironmentHandle, _ path: String) throws(LMDBError) {
    try DataFileReader.checkMetaPages(in: path)
    try environmentOpen(handle, path: path, flags: MDB_RDONLY | MDB_NOTLS, mode: 0o600)
  }
}
