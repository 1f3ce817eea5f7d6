internal import LMDB
internal import SystemInterface

/// A file that appears under its name once it is complete and synced to disk.
///
/// An existing file is never replaced. If the object is released before ``finish()``, the temporary
/// file is deleted. One that a killed process left is deleted by the next output of the same path.
package final class OutputFile {
  private let path: String
  /// The temporary file; `nil` once the file has its name.
  private var temporary: UnfinishedOutput?
  private var buffer: [UInt8] = []
  private static let bufferSize = 1 << 18

  /// Creates the temporary file, which only its owner can read.
  ///
  /// - Throws: ``StoreError`` with `alreadyExists`, `permissionDenied`, `diskFull` or `other`.
  package init(_ path: String) throws {
    self.path = path
    var status = stat()
    // This check only fails early. ``finish()`` links the file without replacing another.
    guard lstat(path, &status) != 0 else {
      throw StoreError(.alreadyExists, "\(path) already exists: choose another name")
    }
    temporary = try UnfinishedOutput.make(for: path, isFolder: false)
    buffer.reserveCapacity(Self.bufferSize)
  }

  deinit { temporary?.remove() }

  /// Appends bytes.
  ///
  /// - Throws: ``StoreError`` with `diskFull`, `inputOutput` or `other`.
  package func write(_ bytes: [UInt8]) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  private func flush() throws {
    var offset = 0
    while offset < buffer.count {
      let descriptor = temporary?.descriptor ?? -1
      let written = SystemInterface.write(descriptor, buffer.span.extracting(offset...))
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw StoreError(errno: errno, path) }
      offset += written
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Writes buffered bytes, syncs the file and makes it appear under its name.
  ///
  /// - Throws: ``StoreError`` with `alreadyExists`, `diskFull`, `inputOutput` or `other`.
  package func finish() throws {
    guard let temporary else { return }
    try flush()
    do throws(LMDBError) {
      try DurableFile.sync(temporary.descriptor, at: temporary.path)
      try DurableFile.link(temporary.path, to: path)
    } catch {
      throw StoreError(errno: error.code.rawValue, path)
    }
    temporary.remove()
    self.temporary = nil
    do {
      try FolderSync.run(parentFolder(of: path))
    } catch {
      _ = unlink(path)
      throw error
    }
  }
}

/// Syncs folders, so that names created in them survive a power failure.
package enum FolderSync {
  package static func run(_ folder: String) throws {
    do throws(LMDBError) {
      try DurableFile.syncFolder(folder)
    } catch {
      throw StoreError(errno: error.code.rawValue, folder)
    }
  }
}

extension StoreError {
  /// Describes an `errno` value of an operation on a file.
  package init(errno code: Int32, _ path: String) {
    switch code {
    case ENOENT: self.init(.notFound, "\(path): no such file or folder")
    case ENOTDIR:
      self.init(.cannotCreate, "\(path) cannot be created: its parent is a file")
    case EEXIST, ENOTEMPTY:
      self.init(.alreadyExists, "\(path): a file or folder of this name already exists")
    case EACCES, EPERM: self.init(.permissionDenied, "\(path): permission denied")
    case EROFS: self.init(.cannotCreate, "\(path): the file system is read-only")
    case ENOSPC, EDQUOT: self.init(.diskFull, "\(path): the disk is full")
    case EIO: self.init(.inputOutput, "\(path): input/output error")
    default: self.init(.other, "\(path): \(systemErrorText(code))")
    }
  }
}

/// Creates folders atomically: a folder appears under its name once its contents are complete and
/// synced to disk.
package enum NewFolder {
  /// Runs `body` with the path of a temporary folder of mode 0700, then renames the folder to
  /// `path`.
  ///
  /// An existing file or folder is never replaced. If `body` throws, the temporary folder is
  /// removed.
  ///
  /// - Throws: ``StoreError`` with `alreadyExists`, `permissionDenied`, `diskFull` or `other`, or
  ///   what `body` throws.
  package static func make<R>(_ path: String, _ body: (String) throws -> R) throws -> R {
    var status = stat()
    guard lstat(path, &status) != 0 else {
      throw StoreError(.alreadyExists, "\(path): a file or folder of this name already exists")
    }
    let temporary = try UnfinishedOutput.make(for: path, isFolder: true)
    do {
      let result = try body(temporary.path)
      try FolderSync.run(temporary.path)
      // `rename` replaces an empty folder, but only one created since the check above.
      do throws(LMDBError) {
        // A stop from here on must not remove the files of the folder with its new name.
        UnfinishedWork.end(temporary.path)
        try DurableFile.rename(temporary.path, to: path)
      } catch {
        throw StoreError(errno: error.code.rawValue, path)
      }
      do {
        try FolderSync.run(parentFolder(of: path))
      } catch {
        remove(path)
        throw error
      }
      temporary.end()
      return result
    } catch {
      temporary.remove()
      throw error
    }
  }

  /// Deletes the folder and the store files in it, ignoring errors.
  ///
  /// A symbolic link is not followed.
  package static func remove(_ path: String) {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let descriptor = open(path, flags)
    guard descriptor >= 0 else { return }
    for name in ["data.mdb", "lock.mdb"] { unlinkat(descriptor, name, 0) }
    close(descriptor)
    _ = rmdir(path)
  }

  /// Throws unless the path names a folder of the effective user, rather than a link to one.
  ///
  /// - Throws: ``StoreError`` with `permissionDenied`.
  package static func requireOwn(_ path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw StoreError(errno: errno, path) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
      throw StoreError(.permissionDenied, "\(path) is not a folder of this user: remove it")
    }
  }
}
