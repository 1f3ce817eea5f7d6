internal import LMDB

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file that gets its name when it is complete and safe from a power cut.
///
/// One of that name is never replaced. Dropped before ``finish()``, it leaves nothing.
final class OutputFile {
  private let path: String
  private let temporaryPath: String
  private var descriptor: Int32
  private var buffer: [UInt8] = []
  private static let bufferSize = 1 << 18

  /// - Throws: ``StoreError`` with `alreadyExists`, `permissionDenied`, `diskFull` or `other`.
  init(_ path: String) throws {
    self.path = path
    temporaryPath = "\(path).partial-\(getpid())-\(UInt32.random(in: .min ... .max))"
    var status = stat()
    // Only to fail early: the name is taken without replacing at the end.
    guard unsafe lstat(path, &status) != 0 else {
      throw StoreError(.alreadyExists, "\(path): there is such a file already")
    }
    descriptor = unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreError(errno: errno, path) }
    buffer.reserveCapacity(Self.bufferSize)
  }

  deinit {
    guard descriptor >= 0 else { return }
    _ = close(descriptor)
    _ = unsafe unlink(temporaryPath)
  }

  func write(_ bytes: [UInt8]) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  private func flush() throws {
    var offset = 0
    while offset < buffer.count {
      let written = unsafe buffer.withUnsafeBytes { bytes in
        unsafe systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes[offset...]))
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw StoreError(errno: errno, path) }
      offset += written
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Gives the file its name.
  ///
  /// - Throws: ``StoreError`` with `alreadyExists`, `diskFull`, `inputOutput` or `other`.
  func finish() throws {
    try flush()
    do throws(LMDBError) {
      try DurableFile.sync(descriptor, at: temporaryPath)
      try DurableFile.link(temporaryPath, to: path)
    } catch {
      throw StoreError(errno: error.code.rawValue, path)
    }
    _ = unsafe unlink(temporaryPath)
    _ = close(descriptor)
    descriptor = -1
    do {
      try FolderSync.run(FolderSync.parent(of: path))
    } catch {
      _ = unsafe unlink(path)
      throw error
    }
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}

/// Makes the names in a folder outlast a power cut.
enum FolderSync {
  static func run(_ folder: String) throws {
    do throws(LMDBError) {
      try DurableFile.syncFolder(folder)
    } catch {
      throw StoreError(errno: error.code.rawValue, folder)
    }
  }

  static func parent(of path: String) -> String {
    let trimmed = path.hasSuffix("/") ? path.dropLast() : path[...]
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }
}

extension StoreError {
  /// Says what an answer of the system means for a file.
  init(errno code: Int32, _ path: String) {
    switch code {
    case ENOENT: self.init(.notFound, "\(path): there is no such file or folder")
    case EEXIST, ENOTEMPTY:
      self.init(.alreadyExists, "\(path): there is such a file or folder already")
    case EACCES, EPERM, EROFS: self.init(.permissionDenied, "\(path): permission denied")
    case ENOSPC, EDQUOT: self.init(.diskFull, "\(path): the disk is full")
    case EIO: self.init(.inputOutput, "\(path): the disk failed")
    default: self.init(.other, "\(path): system error \(code)")
    }
  }
}
