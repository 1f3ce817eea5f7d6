internal import Foundation
internal import SystemInterface

/// Syncs the files that a transport stores.
enum FileSynchronization {
  /// Called with the path before each sync; a result other than 0 makes the sync fail with that
  /// error number.
  ///
  /// For tests: otherwise only a power failure shows what was synced.
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

  /// Syncs the file `new` and renames it to `path`, replacing an existing file.
  ///
  /// The folder is not synced.
  ///
  /// - Throws: `POSIXError`.
  static func replace(_ path: String, with new: String) throws {
    try synchronize(new)
    guard unsafe rename(new, path) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
  }
}
