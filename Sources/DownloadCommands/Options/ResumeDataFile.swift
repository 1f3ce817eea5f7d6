internal import Foundation

/// Files of some bytes that people name, read and written whole.
enum ResumeDataFile {
  /// Reads a file, or standard input for `-`, to its end or to a limit in bytes.
  ///
  /// - Throws: ``CommandFailure`` with the status of what is wrong.
  static func read(_ path: String, upTo limit: Int) throws -> [UInt8] {
    // Opened once: it may be a pipe.
    let descriptor = unsafe path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(SystemCall.status(), "\(path) cannot be read: \(SystemCall.reason())")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: path != "-")
    do {
      var bytes: [UInt8] = []
      while bytes.count < limit,
        let part = try handle.read(upToCount: limit - bytes.count), !part.isEmpty
      {
        bytes += part
      }
      return bytes
    } catch {
      throw CommandFailure(.inputOutput, "\(path) cannot be read")
    }
  }

  /// Writes a new file that only its owner can read; one of that name is never replaced.
  ///
  /// - Throws: ``CommandFailure`` with the status of what is wrong.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    let descriptor = unsafe open(path, flags, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      // A missing folder is no missing input.
      let status = code == ENOENT ? .cannotCreate : SystemCall.status(code)
      throw CommandFailure(status, "\(path) cannot be made: \(SystemCall.reason(code))")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: Data(bytes))
      try handle.synchronize()
    } catch {
      _ = unsafe unlink(path)
      throw CommandFailure(.inputOutput, "\(path) cannot be written")
    }
  }
}
