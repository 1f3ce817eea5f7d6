internal import SystemInterface

/// The file system calls with which a simulated disk examines and changes real files.
enum FileCalls {
  /// The identity of a file, and its modification time.
  struct Identity: Sendable, Hashable {
    var inode: UInt64
    var seconds: Int
    var nanoseconds: Int
  }

  /// A call failed that must not fail.
  struct Failure: Error {
    var call: String
    var path: String
    var code: Int32
  }

  static func identity(of path: String) -> Identity? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    let modified = status.modificationTime
    return Identity(
      inode: UInt64(status.st_ino),
      seconds: modified.tv_sec,
      nanoseconds: modified.tv_nsec
    )
  }

  static func read(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw Failure(call: "open", path: path, code: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw Failure(call: "fstat", path: path, code: errno)
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe pread(descriptor, buffer.baseAddress, buffer.count, 0)
    }
    guard count == bytes.count else { throw Failure(call: "pread", path: path, code: errno) }
    return bytes
  }

  /// Replaces the contents of a file without changing its identity, or creates the file.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(call: "open", path: path, code: errno) }
    defer { close(descriptor) }
    let count = unsafe bytes.withUnsafeBytes { buffer in
      unsafe pwrite(descriptor, buffer.baseAddress, buffer.count, 0)
    }
    guard count == bytes.count else { throw Failure(call: "pwrite", path: path, code: errno) }
  }

  /// Sets the modification time of a file.
  static func setTime(of path: String, to identity: Identity) throws {
    let time = timespec(tv_sec: identity.seconds, tv_nsec: identity.nanoseconds)
    let code = unsafe withUnsafePointer(to: (time, time)) { times in
      unsafe times.withMemoryRebound(to: timespec.self, capacity: 2) {
        unsafe utimensat(AT_FDCWD, path, $0, AT_SYMLINK_NOFOLLOW)
      }
    }
    guard code == 0 else { throw Failure(call: "utimensat", path: path, code: errno) }
  }

  static func link(_ path: String, _ other: String) throws {
    let code = unsafe linkat(AT_FDCWD, path, AT_FDCWD, other, 0)
    guard code == 0 else { throw Failure(call: "link", path: path, code: errno) }
  }

  static func remove(_ path: String) {
    _ = unlink(path)
  }
}
