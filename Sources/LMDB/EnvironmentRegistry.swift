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
    /// A descriptor of the lock file.
    ///
    /// Closing any descriptor of that file would release the lock.
    fileprivate let descriptor: Int32
    fileprivate let lock: Identity
  }

  private struct Entry: Sendable {
    weak let environment: Environment?
    let lock: Identity?
  }

  private struct State {
    var entries: [Identity: Entry] = [:]
    /// The lock files of the claimed folders.
    var claims: Set<Identity> = []
  }

  private static let state = Mutex(State())

  static func open(
    _ path: String,
    options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    EnvironmentFile.occupyStandardDescriptors()
    while true {
      let environment = try state.withLock { state throws(LMDBError) -> Environment? in
        if let identity = identity(of: path + "/data.mdb"), let entry = state.entries[identity] {
          // If the entry exists but its weak reference is nil, the environment is closing and waits
          // for this lock. Release the lock and try again.
          return entry.environment
        }
        if let lock = identity(of: path + "/lock.mdb"), state.claims.contains(lock) {
          throw LMDBError(.busy, operation: "opening an environment under exclusive access")
        }
        let environment = try Environment(path: path, options: options)
        state.entries[environment.identity] = Entry(
          environment: environment,
          lock: identity(of: path + "/lock.mdb")
        )
        return environment
      }
      if let environment {
        guard environment.isReadOnly, !options.isReadOnly else { return environment }
        throw LMDBError(
          .busy,
          operation: "opening for writing: this process has the environment open read-only"
        )
      }
      usleep(100)
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
  static func close(_ identity: Identity, _ handle: OpaquePointer) {
    state.withLock { state in
      unsafe environmentClose(handle)
      state.entries[identity] = nil
    }
  }

  static func identity(of file: String) -> Identity? {
    var status = stat()
    return unsafe stat(file, &status) == 0 ? Identity(status) : nil
  }

  // MARK: Claims

  /// Takes exclusive access, through the lock that every process with the environment open shares.
  ///
  /// - Throws: ``LMDBError`` with `busy`, `noSuchFile`, or another system error.
  static func claim(_ folder: String) throws(LMDBError) -> Claim {
    try state.withLock { state throws(LMDBError) in
      let path = folder + "/lock.mdb"
      guard let lock = identity(of: path) else {
        throw LMDBError(.noSuchFile, operation: "open")
      }
      let isOpen = state.entries.values.contains { $0.lock == lock }
      guard !isOpen, !state.claims.contains(lock) else {
        throw LMDBError(.busy, operation: "exclusive access: this process has the environment open")
      }
      let descriptor = try EnvironmentFile.lockExclusively(path)
      state.claims.insert(lock)
      return Claim(folder: folder, descriptor: descriptor, lock: lock)
    }
  }

  static func release(_ claim: Claim) {
    state.withLock { state in
      // Another process may be waiting in `mdb_env_open` for our lock, and would trust the
      // transaction number in the lock file, which belongs to the replaced data file. Opening the
      // environment here makes LMDB rewrite the lock file; closing it releases the lock.
      if let handle = unsafe try? environmentCreate() {
        unsafe try? Environment.openForLockFile(handle, claim.folder)
        unsafe environmentClose(handle)
      }
      EnvironmentFile.close(claim.descriptor)
      state.claims.remove(claim.lock)
    }
  }
}
