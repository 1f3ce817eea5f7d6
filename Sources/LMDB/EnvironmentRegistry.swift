internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The environments that this process has open, so that each folder is opened once.
enum EnvironmentRegistry {
  /// A folder, whatever path names it.
  struct Identity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
  }

  private struct Entry: Sendable {
    weak let environment: Environment?
  }

  private static let entries = Mutex<[Identity: Entry]>([:])

  static func open(
    _ path: String,
    options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    let identity = try identity(of: path)
    while true {
      let environment = try entries.withLock { entries throws(LMDBError) -> Environment? in
        if let entry = entries[identity] {
          // A weak reference that is gone while its entry is not: the environment is closing right
          // now and waits for this lock. Let it, then look again.
          return entry.environment
        }
        let environment = try Environment(path: path, identity: identity, options: options)
        entries[identity] = Entry(environment: environment)
        return environment
      }
      if let environment {
        guard environment.isReadOnly, !options.isReadOnly else { return environment }
        throw LMDBError(.accessDenied, operation: "the environment is open read-only already")
      }
      usleep(100)
    }
  }

  /// Closes under the lock, so that no other open can overlap with the close.
  static func close(_ identity: Identity, _ handle: OpaquePointer) {
    entries.withLock { entries in
      unsafe environmentClose(handle)
      entries[identity] = nil
    }
  }

  private static func identity(of path: String) throws(LMDBError) -> Identity {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "stat")
    }
    return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }
}
