internal import Foundation

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Syncs files that a transport keeps.
enum FileSynchronization {
  /// Sees the path of each sync before it happens, and fails it with an error number other than 0.
  ///
  /// For tests: what a sync is for shows only after a power cut.
  @TaskLocal static var observer: (@Sendable (_ path: String) -> Int32)?

  /// Syncs a file or a folder.
  ///
  /// - Throws: `POSIXError`.
  static func synchronize(_ path: String) throws {
    if let code = observer?(path), code != 0 {
      throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  /// Gives a synced file a name, in place of the file that has it.
  ///
  /// - Throws: `POSIXError`.
  static func replace(_ path: String, with new: String) throws {
    try synchronize(new)
    guard unsafe rename(new, path) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
  }
}
