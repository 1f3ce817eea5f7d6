#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The calls of the file system by which a simulated disk looks at real files and changes them.
enum FileCalls {
  /// What names a file, and when it was written.
  struct Identity: Sendable, Hashable {
    var inode: UInt64
    var seconds: Int
    var nanoseconds: Int
  }

  /// A call that must not fail has.
  struct Failure: Error {
    var call: String
    var path: String
    var code: Int32
  }

  static func identity(of path: String) -> Identity? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    #if canImport(Darwin)
      let modified = unsafe status.st_mtimespec
    #else
      let modified = status.st_mtim
    #endif
    return Identity(
      inode: UInt64(status.st_ino),
      seconds: modified.tv_sec,
      nanoseconds: modified.tv_nsec
    )
  }

  static func read(_ path: String) throws -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw Failure(call: "open", path: path, code: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw Failure(call: "fstat", path: path, code: errno)
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe pread(descriptor, buffer.baseAddress, buffer.count, 0)
    }
    guard count == bytes.count else { throw Failure(call: "pread", path: path, code: errno) }
    return bytes
  }

  /// Gives a file other bytes; it stays the same file, and is made where there is none.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(call: "open", path: path, code: errno) }
    defer { close(descriptor) }
    let count = unsafe bytes.withUnsafeBytes { buffer in
      unsafe pwrite(descriptor, buffer.baseAddress, buffer.count, 0)
    }
    guard count == bytes.count else { throw Failure(call: "pwrite", path: path, code: errno) }
  }

  /// Says when a file was written.
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
    _ = unsafe unlink(path)
  }
}
