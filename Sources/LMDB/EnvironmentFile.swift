internal import CLMDB
internal import SystemInterface

/// File system operations on the files of an environment that LMDB itself does not perform.
enum EnvironmentFile {
  /// Creates the lock file if it is missing, and allocates its disk space before LMDB maps it.
  ///
  /// Writing to a mapped page without disk space ends the process when the disk is full. This does
  /// not change the size of the file, which LMDB sets while no other process has the file open. In
  /// a longer file, this process would use reader slots beyond the part that other processes have
  /// mapped.
  ///
  /// Call this only while this process does not have the file open, because closing a descriptor
  /// releases all locks of the process on the file.
  ///
  /// - Throws: ``LMDBError`` with `readOnlyFileSystem`, where LMDB would go on without a lock;
  ///   `accessDenied`, `noSpace`, or another system error.
  static func prepareLockFile(
    in folder: String,
    options: EnvironmentOptions
  ) throws(LMDBError) -> EnvironmentRegistry.Identity {
    let flags = O_RDWR | O_CREAT
    let file = try StoreFile.open("lock.mdb", in: folder, flags: flags, mode: options.fileMode)
    defer { close(file) }
    #if os(Linux)
      // FALLOC_FL_KEEP_SIZE
      let keepsSize: Int32 = 1
      let slotSize = 64
      let length = (options.maximumReaders + 4) * slotSize
      // A reader of an existing file writes only its slot.
      let isNew = try size(of: file) == 0
      // File systems without `fallocate` allocate space when LMDB writes.
      if !options.isReadOnly || isNew, fallocate(file, keepsSize, 0, off_t(length)) != 0,
        errno == ENOSPC
      {
        throw LMDBError(.noSpace, operation: LMDBError.allocatingLockFile)
      }
    #endif
    return EnvironmentRegistry.Identity(try status(of: file))
  }

  /// Returns whether the data file exists and is empty.
  static func isEmpty(in folder: String) -> Bool {
    var status = stat()
    return lstat(folder + "/data.mdb", &status) == 0 && status.st_size == 0
  }

  static func status(of descriptor: Int32) throws(LMDBError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "fstat")
    }
    return status
  }

  static func size(of descriptor: Int32) throws(LMDBError) -> Int64 {
    Int64(try status(of: descriptor).st_size)
  }

  /// Extends a file by `count` bytes; the caller prevents concurrent writes.
  static func extend(_ descriptor: Int32, by count: Int64) throws(LMDBError) {
    guard ftruncate(descriptor, off_t(try size(of: descriptor) + count)) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "ftruncate")
    }
  }

  /// Returns whether the system can currently map `size` bytes of the file.
  static func canMap(_ descriptor: Int32, size: Int) -> Bool {
    SystemInterface.canMap(descriptor, byteCount: size)
  }

  /// Returns whether the file system of the file has less than 1 MiB available.
  static func isDiskFull(under descriptor: Int32) -> Bool {
    guard let status = volumeStatus(ofFile: descriptor) else { return false }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize) < 1 << 20
  }

  // MARK: Descriptors

  /// Opens `/dev/null` as each standard descriptor that is closed.
  ///
  /// Otherwise `data.mdb` could become descriptor 1 or 2, and the output of the program would
  /// overwrite it. Reads and writes on such a descriptor still fail with `EBADF`.
  static func occupyStandardDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      let access = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      let opened = open("/dev/null", access | O_CLOEXEC)
      // Another thread took the descriptor first.
      if opened > STDERR_FILENO { close(opened) }
    }
  }

  /// Makes child processes close the descriptor on `exec`.
  static func closeOnExec(_ descriptor: Int32) throws(LMDBError) {
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "fcntl")
    }
  }

  // MARK: Copies

  /// Creates a file and opens it for writing; fails with `fileExists` if it exists.
  static func createExclusively(_ path: String, mode: UInt32) throws(LMDBError) -> Int32 {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    let descriptor = open(path, flags, mode_t(mode))
    guard descriptor >= 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "open")
    }
    return descriptor
  }

  static func close(_ descriptor: Int32) {
    _ = SystemInterface.close(descriptor)
  }

  static func remove(_ path: String) {
    _ = unlink(path)
  }

  /// Syncs the folder that contains the file at `path`.
  static func syncFolder(of path: String) throws(LMDBError) {
    try DurableFile.syncFolder(parentFolder(of: path))
  }

  // MARK: Memory

  /// Creates a folder that only its owner can access, in `/dev/shm` if possible.
  static func makeMemoryFolder() throws(LMDBError) -> String {
    var parent = environmentVariable("TMPDIR") ?? "/tmp"
    #if os(Linux)
      let shared = "/dev/shm"
      if access(shared, W_OK | X_OK) == 0 { parent = shared }
    #endif
    guard let folder = makeTemporaryFolder("\(parent)/lmdb-XXXXXX") else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "mkdtemp")
    }
    return folder
  }

  /// Removes an environment's folder and files.
  static func removeFolder(_ folder: String) {
    for name in ["data.mdb", "lock.mdb"] { remove(folder + "/" + name) }
    _ = rmdir(folder)
  }

  // MARK: The lock file

  /// Opens the lock file, or creates it, and takes the lock by which LMDB knows that it is in use.
  ///
  /// Call this only while this process does not have the file open, and holds the exclusive lock on
  /// the data file.
  ///
  /// - Throws: ``LMDBError`` with `busy` if a process holds the lock, or another system error.
  static func lockExclusively(_ folder: String) throws(LMDBError) -> Int32 {
    ReplacementStep.begin(.claimLockFile)
    let descriptor = try StoreFile.open("lock.mdb", in: folder, flags: O_RDWR | O_CREAT)
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 0
    lock.l_len = 1
    guard fcntl(descriptor, F_SETLK, &lock) == 0 else {
      let code = errno
      close(descriptor)
      let isTaken = code == EAGAIN || code == EACCES
      throw LMDBError(isTaken ? .busy : LMDBError.Code(rawValue: code), operation: "fcntl")
    }
    // If this process is killed, a program that waits for this lock must not trust the transaction
    // number in the lock file. LMDB rejects a lock file without its magic number, and rewrites it
    // when it is the only one to open it.
    ReplacementStep.begin(.invalidateLockFile)
    let magic: [UInt8] = [0, 0, 0, 0]
    guard pwrite(descriptor, magic.span, at: 0) == 4 else {
      let code = errno
      close(descriptor)
      throw LMDBError(LMDBError.Code(rawValue: code), operation: "pwrite")
    }
    return descriptor
  }
}
