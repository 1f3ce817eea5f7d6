internal import CLMDB

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What must be true of the files of an environment that LMDB itself does not see to.
enum EnvironmentFile {
  /// Allocates the disk space of the lock file before LMDB maps it.
  ///
  /// Writing to a mapped page that has no disk space ends the process when the disk is full. The
  /// size of the file stays as it is: LMDB sizes it while no other process has it open. A longer
  /// file would let this process use slots for readers beyond the end of what others have mapped.
  ///
  /// Call this only while this process does not have the file open, because closing a descriptor
  /// drops all of the process's locks on the file.
  static func reserveLockFile(
    in folder: String,
    options: EnvironmentOptions
  ) throws(LMDBError) {
    #if os(Linux)
      guard !options.isReadOnly else { return }
      let flags = O_RDWR | O_CREAT | O_CLOEXEC
      let file = unsafe open(folder + "/lock.mdb", flags, mode_t(options.fileMode))
      // LMDB is about to meet the same error, and reports it.
      guard file >= 0 else { return }
      defer { close(file) }
      // FALLOC_FL_KEEP_SIZE
      let keepsSize: Int32 = 1
      let slotSize = 64
      let size = (options.maximumReaders + 4) * slotSize
      // File systems without this call allocate when LMDB writes.
      guard fallocate(file, keepsSize, 0, off_t(size)) != 0, errno == ENOSPC else {
        return
      }
      throw LMDBError(.noSpace, operation: "fallocate")
    #endif
  }

  /// Whether the data file is there and has nothing in it.
  static func isEmpty(in folder: String) -> Bool {
    var status = stat()
    return unsafe stat(folder + "/data.mdb", &status) == 0 && status.st_size == 0
  }

  static func status(of descriptor: Int32) throws(LMDBError) -> stat {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "fstat")
    }
    return status
  }

  static func size(of descriptor: Int32) throws(LMDBError) -> Int64 {
    Int64(try status(of: descriptor).st_size)
  }

  /// Lengthens a file; the caller keeps others from writing to it.
  static func extend(_ descriptor: Int32, by count: Int64) throws(LMDBError) {
    guard ftruncate(descriptor, off_t(try size(of: descriptor) + count)) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "ftruncate")
    }
  }

  /// Whether the system would map `size` bytes of the file now.
  static func canMap(_ descriptor: Int32, size: Int) -> Bool {
    let address = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { return false }
    unsafe munmap(address, size)
    return true
  }

  /// Whether the disk that the file is on has hardly any room.
  static func isDiskFull(under descriptor: Int32) -> Bool {
    var status = statvfs()
    guard unsafe fstatvfs(descriptor, &status) == 0 else { return false }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize) < 1 << 20
  }

  // MARK: Descriptors

  /// Opens `/dev/null` in the place of each standard descriptor that is closed.
  ///
  /// Otherwise `data.mdb` could become descriptor 1 or 2, and what the program prints would be
  /// written into it. Reading from and writing to such a descriptor fail with `EBADF`, as before.
  static func occupyStandardDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      let access = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      let opened = unsafe open("/dev/null", access | O_CLOEXEC)
      // Another thread has opened a file meanwhile.
      if opened > STDERR_FILENO { close(opened) }
    }
  }

  /// Closes the descriptor in programs that this process starts.
  static func closeOnExec(_ descriptor: Int32) throws(LMDBError) {
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "fcntl")
    }
  }

  // MARK: Copies

  /// Makes a file that was not there, and opens it for writing.
  static func createExclusively(_ path: String, mode: UInt32) throws(LMDBError) -> Int32 {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    let descriptor = unsafe open(path, flags, mode_t(mode))
    guard descriptor >= 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "open")
    }
    return descriptor
  }

  static func close(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #else
      _ = Glibc.close(descriptor)
    #endif
  }

  static func remove(_ path: String) {
    _ = unsafe unlink(path)
  }

  /// Makes the names in the folder of the file at `path` durable.
  static func syncFolder(of path: String) throws(LMDBError) {
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
    try DurableFile.syncFolder(String(folder))
  }

  // MARK: Memory

  /// Makes a new folder for its owner alone, in memory if there is a place for files there.
  static func makeMemoryFolder() throws(LMDBError) -> String {
    var parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    #if os(Linux)
      let shared = "/dev/shm"
      if unsafe access(shared, W_OK | X_OK) == 0 { parent = shared }
    #endif
    var template = Array("\(parent)/lmdb-XXXXXX".utf8CString)
    let folder = unsafe template.withUnsafeMutableBufferPointer { template in
      unsafe template.baseAddress.flatMap { unsafe mkdtemp($0) }
        .map { unsafe String(cString: $0) }
    }
    guard let folder else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "mkdtemp")
    }
    return folder
  }

  /// Removes a folder with the files of an environment.
  static func removeFolder(_ folder: String) {
    for name in ["data.mdb", "lock.mdb"] { remove(folder + "/" + name) }
    _ = unsafe rmdir(folder)
  }

  // MARK: The lock file

  /// Opens the lock file and takes the lock that tells LMDB whether it is in use; `busy` when it is.
  static func lockExclusively(_ path: String) throws(LMDBError) -> Int32 {
    let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "open")
    }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 0
    lock.l_len = 1
    guard unsafe fcntl(descriptor, F_SETLK, &lock) == 0 else {
      let code = errno
      close(descriptor)
      let isTaken = code == EAGAIN || code == EACCES
      throw LMDBError(isTaken ? .busy : LMDBError.Code(rawValue: code), operation: "fcntl")
    }
    // Should this process be killed, one that waits for the lock must not believe what the file says
    // of transactions. Without the number that it begins with, LMDB refuses it; and writes it anew
    // as soon as it is the only one to open it.
    var magic: UInt32 = 0
    guard unsafe pwrite(descriptor, &magic, 4, 0) == 4 else {
      let code = errno
      close(descriptor)
      throw LMDBError(LMDBError.Code(rawValue: code), operation: "pwrite")
    }
    return descriptor
  }
}
