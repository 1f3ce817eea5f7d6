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

  private struct Entry: Sendable {
    weak let environment: Environment?
  }

  private static let entries = Mutex<[Identity: Entry]>([:])

  static func open(
    _ path: String,
    options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    while true {
      let environment = try entries.withLock { entries throws(LMDBError) -> Environment? in
        if let identity = identity(of: path + "/data.mdb"), let entry = entries[identity] {
          // A weak reference that is gone while its entry is not: the environment is closing right
          // now and waits for this lock. Let it, then look again.
          return entry.environment
        }
        let environment = try Environment(path: path, options: options)
        entries[environment.identity] = Entry(environment: environment)
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

  private static func identity(of file: String) -> Identity? {
    var status = stat()
    return unsafe stat(file, &status) == 0 ? Identity(status) : nil
  }
}
