internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The environments that this process has open, so that each file is opened once.
enum EnvironmentRegistry {
  /// A data file, whatever path names it.
  ///
  /// The file and not its folder: an open file keeps its number, while a folder that is removed and
  /// made anew may get the old one's.
  struct Identity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  /// The right to the files of a folder that nobody has open.
  struct Claim: Sendable {
    fileprivate let folder: String
    /// The lock file, open: closing any descriptor of it would give the right up.
    fileprivate let descriptor: Int32
    fileprivate let lock: Identity
  }

  private struct Entry: Sendable {
    weak let environment: Environment?
    let lock: Identity?
  }

  private struct State {
    var entries: [Identity: Entry] = [:]
    /// The lock files of the folders that are claimed.
    var claims: Set<Identity> = []
  }

  private static let state = Guarded(State())

  static func open(
    _ path: String,
    options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    EnvironmentFile.occupyStandardDescriptors()
    while true {
      let environment = try state.withLock { state throws(LMDBError) -> Environment? in
        if let identity = identity(of: path + "/data.mdb"), let entry = state.entries[identity] {
          // A weak reference that is gone while its entry is not: the environment is closing right
          // now and waits for this lock. Let it, then look again.
          return entry.environment
        }
        if let lock = identity(of: path + "/lock.mdb"), state.claims.contains(lock) {
          throw LMDBError(.busy, operation: "the environment is claimed")
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
        throw LMDBError(.busy, operation: "the environment is open for reading alone")
      }
      usleep(100)
    }
  }

  /// Whether this process has the folder open for reading alone.
  static func isReadOnly(_ path: String) -> Bool {
    openEnvironment(at: path)?.isReadOnly ?? false
  }

  /// The environment of the folder if this process has it open.
  ///
  /// The caller releases it outside of the lock: the last release closes the environment, which
  /// takes the lock.
  private static func openEnvironment(at path: String) -> Environment? {
    state.withLock { state in
      identity(of: path + "/data.mdb").flatMap { state.entries[$0]?.environment }
    }
  }

  /// Closes under the lock, so that no other open can overlap with the close.
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

  /// Takes the lock that each process which has the environment open shares.
  static func claim(_ folder: String) throws(LMDBError) -> Claim {
    try state.withLock { state throws(LMDBError) in
      let path = folder + "/lock.mdb"
      guard let lock = identity(of: path) else {
        throw LMDBError(.noSuchFile, operation: "open")
      }
      let isOpen = state.entries.values.contains { $0.lock == lock }
      guard !isOpen, !state.claims.contains(lock) else {
        throw LMDBError(.busy, operation: "the environment is open in this process")
      }
      let descriptor = try EnvironmentFile.lockExclusively(path)
      state.claims.insert(lock)
      return Claim(folder: folder, descriptor: descriptor, lock: lock)
    }
  }

  static func release(_ claim: Claim) {
    state.withLock { state in
      // Another process may wait in `mdb_env_open` for our lock, and would believe what the lock
      // file says of the data file that was there before. When LMDB opens it in this process, it
      // writes the lock file anew and shares the lock, which ends with its close.
      if let handle = unsafe try? environmentCreate() {
        unsafe try? Environment.openForLockFile(handle, claim.folder)
        unsafe environmentClose(handle)
      }
      EnvironmentFile.close(claim.descriptor)
      state.claims.remove(claim.lock)
    }
  }
}
