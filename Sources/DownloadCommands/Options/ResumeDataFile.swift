internal import CommandLineSupport
internal import Foundation
internal import SystemInterface

/// Reads and writes whole files given on the command line.
enum ResumeDataFile {
  /// Reads a file, or standard input for `-`, up to `limit` bytes.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - limit: The maximum number of bytes.
  ///   - isRegular: Whether the file must be a regular one, which the user has not named. Opening a
  ///     pipe would wait for its writer.
  /// - Returns: The bytes.
  /// - Throws: ``CommandFailure``.
  static func read(_ path: String, upTo limit: Int, isRegular: Bool = false) throws -> [UInt8] {
    // Opened once: it may be a pipe.
    let descriptor = try InputPath.open(path, flags: isRegular ? O_NONBLOCK : 0)
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0
    guard !isRegular || isKnown && status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(.damaged, "\(path) is not a regular file")
    }
    do {
      var bytes: [UInt8] = []
      while bytes.count < limit,
        let part = try handle.read(upToCount: limit - bytes.count), !part.isEmpty
      {
        bytes += part
      }
      return bytes
    } catch {
      throw CommandFailure(.inputOutput, "cannot read \(path)")
    }
  }

  /// Writes a new file that only its owner can read.
  ///
  /// An existing file is never replaced.
  ///
  /// - Throws: ``CommandFailure``.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      // ENOENT means a missing folder, not a missing input file.
      let status = code == ENOENT ? .cannotCreate : SystemCall.status(code)
      throw CommandFailure(status, "cannot create \(path): \(systemErrorText(code))")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: Data(bytes))
      try handle.synchronize()
    } catch {
      _ = unlink(path)
      throw CommandFailure(.inputOutput, "cannot write \(path)")
    }
  }
}
