internal import SystemInterface

/// The environments that are open in this process, so that each file is opened once.
enum EnvironmentRegistry {
  /// The identity of a data file, independent of its path.
  ///
  /// It identifies the file, not the folder: the inode of an open file cannot be reused, while a
  /// folder that is removed and created again may get the same inode.
  struct Identity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  /// Exclusive access to the files of an environment that no process has open.
  struct Claim: Sendable {
    fileprivate let folder: String
    fileprivate let folderIdentity: Identity
    /// A descriptor of the lock file.
    ///
    /// Closing any descriptor of that file would release the lock.
    fileprivate let descriptor: Int32
    fileprivate let lockFile: Identity
    /// The locks on the data file, and on each that has replaced it.
    fileprivate var dataFiles: [DataFileLock]
  }

  private struct Entry: Sendable {
    weak let environment: Environment?
    /// `nil` for an environment that was opened as immutable.
    let lockFile: Identity?
  }

  private struct State {
    /// The open environments by data file.
    var entries: [Identity: Entry] = [:]
    /// The folders that threads are opening.
    ///
    /// LMDB opens and closes the lock file, and closing a descriptor of it releases the locks of
    /// other threads, so only one thread at a time opens a folder. It may wait for other processes,
    /// so it does not hold the mutex.
    var opening: Set<Identity> = []
    /// The claims by folder.
    var claims: [Identity: Claim] = [:]
  }

  private static let state = Mutex(State())

  private enum Beginning: Sendable {
    case isOpen(Environment)
    /// Another thread opens or closes the environment.
    case mustWait
    case mayOpen(folder: Identity)
  }

  static func open(
    _ path: String,
    options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    EnvironmentFile.occupyStandardDescriptors()
    var pause: UInt32 = 100
    while true {
      switch try begin(path) {
      case .isOpen(let environment):
        try check(environment, options)
        return environment
      case .mustWait:
        usleep(pause)
        pause = min(pause * 2, 1_000)
      case .mayOpen(let folder):
        defer { state.withLock { state in _ = state.opening.remove(folder) } }
        let kind: Environment.Kind = options.isImmutable ? .immutable : .shared
        let environment = try Environment(path: path, options: options, kind: kind)
        state.withLock { state in
          state.entries[environment.identity] = Entry(
            environment: environment,
            lockFile: environment.lockFile
          )
        }
        return environment
      }
    }
  }

  /// Finds the environment, or registers that this thread opens it.
  private static func begin(_ path: String) throws(LMDBError) -> Beginning {
    try state.withLock { state throws(LMDBError) in
      if let identity = identity(of: path + "/data.mdb"), let entry = state.entries[identity] {
        // If the entry exists but its weak reference is nil, the environment is closing and waits
        // for this lock.
        return entry.environment.map { .isOpen($0) } ?? .mustWait
      }
      let folder = try folderIdentity(path)
      guard state.claims[folder] == nil else {
        throw LMDBError(.busy, operation: "opening an environment under exclusive access")
      }
      if let lockFile = identity(of: path + "/lock.mdb"),
        let entry = state.entries.values.first(where: { $0.lockFile == lockFile })
      {
        guard entry.environment != nil else { return .mustWait }
        throw LMDBError(
          .busy,
          operation: "opening: data.mdb was replaced while this process has it open"
        )
      }
      guard state.opening.insert(folder).inserted else { return .mustWait }
      return .mayOpen(folder: folder)
    }
  }

  /// Fails if an open environment does not serve an open with these options.
  private static func check(
    _ environment: Environment,
    _ options: EnvironmentOptions
  ) throws(LMDBError) {
    if environment.isReadOnly, !options.isReadOnly, !options.isImmutable {
      throw LMDBError(
        .busy,
        operation: "opening for writing: this process has the environment open read-only"
      )
    }
    if environment.isImmutable, !options.isImmutable {
      throw LMDBError(
        .busy,
        operation: "opening: this process has the environment open as immutable"
      )
    }
  }

  /// Returns whether this process has the folder open read-only.
  static func isReadOnly(_ path: String) -> Bool {
    openEnvironment(at: path)?.isReadOnly ?? false
  }

  /// Returns the environment of the folder if this process has it open.
  ///
  /// The caller releases it outside the lock: the last release closes the environment, which takes
  /// the lock.
  private static func openEnvironment(at path: String) -> Environment? {
    state.withLock { state in
      identity(of: path + "/data.mdb").flatMap { state.entries[$0]?.environment }
    }
  }

  /// Closes an environment under the lock, so that no open overlaps with it.
  static func close(_ identity: Identity, _ handle: EnvironmentHandle, _ dataLock: DataFileLock?) {
    state.withLock { state in
      ReplacementStep.begin(.closeEnvironment)
      environmentClose(handle)
      ReplacementStep.begin(.unshareDataFile)
      dataLock?.release()
      // An environment in memory or under exclusive access has none.
      state.entries[identity] = nil
    }
  }

  /// Returns the identity of a file, `nil` if it cannot be examined; follows no link.
  static func identity(of file: String) -> Identity? {
    var status = stat()
    return lstat(file, &status) == 0 ? Identity(status) : nil
  }

  private static func folderIdentity(_ path: String) throws(LMDBError) -> Identity {
    var status = stat()
    guard statFollowingLinks(path, &status) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "opening the folder")
    }
    return Identity(status)
  }

  // MARK: Claims

  /// Takes exclusive access, through the locks that every process with the environment open shares.
  ///
  /// Waits for no other process.
  ///
  /// - Throws: ``LMDBError`` with `busy`, `noSuchFile`, or another system error.
  static func claim(_ folder: String) throws(LMDBError) -> Claim {
    try state.withLock { state throws(LMDBError) in
      let folderIdentity = try folderIdentity(folder)
      let dataFile = identity(of: folder + "/data.mdb")
      let lockFile = identity(of: folder + "/lock.mdb")
      let isOpen = state.entries.contains { $0 == dataFile || $1.lockFile == lockFile }
      guard !isOpen, !state.opening.contains(folderIdentity), state.claims[folderIdentity] == nil
      else {
        throw LMDBError(.busy, operation: "exclusive access: this process has the environment open")
      }
      let dataLock = try DataFileLock.claim(folder)
      do throws(LMDBError) {
        let descriptor = try EnvironmentFile.lockExclusively(folder)
        do throws(LMDBError) {
          let claim = Claim(
            folder: folder,
            folderIdentity: folderIdentity,
            descriptor: descriptor,
            lockFile: Identity(try EnvironmentFile.status(of: descriptor)),
            dataFiles: [dataLock]
          )
          state.claims[folderIdentity] = claim
          return claim
        } catch {
          EnvironmentFile.close(descriptor)
          throw error
        }
      } catch {
        dataLock.release()
        throw error
      }
    }
  }

  /// Locks a file that will replace the data file of a claimed folder, until the claim ends.
  ///
  /// - Parameters:
  ///   - name: The path of the file below the folder.
  ///   - folder: The folder of the environment.
  /// - Throws: ``LMDBError`` with `busy` if the folder is not claimed or a process uses the file, or
  ///   another system error.
  static func claim(newFile name: String, in folder: String) throws(LMDBError) {
    try state.withLock { state throws(LMDBError) in
      let folderIdentity = try folderIdentity(folder)
      guard state.claims[folderIdentity] != nil else {
        throw LMDBError(.busy, operation: "replacing a data file without exclusive access")
      }
      let lock = try DataFileLock.claim(newFile: name, in: folder)
      state.claims[folderIdentity]?.dataFiles.append(lock)
    }
  }

  static func release(_ claim: Claim) {
    ReplacementStep.begin(.releaseLockFile)
    // A program that does not know our lock may be waiting in `mdb_env_open` for LMDB's, and would
    // trust the transaction number in the lock file, which belongs to the replaced data file.
    // Opening the environment here makes LMDB rewrite the lock file; closing it releases the lock.
    // Not under the mutex: if the lock file was deleted, this waits for the users of another one.
    if identity(of: claim.folder + "/lock.mdb") == claim.lockFile,
      let handle = try? environmentCreate()
    {
      try? EnvironmentOpening.openForLockFile(handle, claim.folder)
      environmentClose(handle)
    }
    EnvironmentFile.close(claim.descriptor)
    ReplacementStep.begin(.unclaimDataFiles)
    let current = state.withLock { $0.claims.removeValue(forKey: claim.folderIdentity) }
    for lock in (current ?? claim).dataFiles.reversed() { lock.release() }
  }
}
