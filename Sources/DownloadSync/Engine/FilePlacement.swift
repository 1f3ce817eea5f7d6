#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The steps that give a finished file its name.
enum FilePlacement {
  /// What became of a rename.
  enum Outcome: Hashable {
    /// The file has its name.
    case placed
    /// Something has the name already. Nothing happened.
    case nameTaken
    /// The file system refused.
    case failed(PartialFile.Failure)
  }

  /// Gives the file its final name, without ever replacing what is there.
  ///
  /// On Linux as a second name that must not exist, after which the first one goes: `renameat2` is
  /// not to be had from Swift. A kill in between leaves one file under both names, which is known
  /// for ours by its stamp.
  static func place(_ partial: String, as final: String) -> Outcome {
    #if canImport(Darwin)
      if unsafe renamex_np(partial, final, UInt32(RENAME_EXCL)) == 0 { return .placed }
    #else
      if unsafe link(partial, final) == 0 {
        unsafe unlink(partial)
        return .placed
      }
    #endif
    switch errno {
    case EEXIST: return .nameTaken
    // Some file systems have no second names, or no such rename.
    case EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK: return placeOverReservation(partial, as: final)
    default: return .failed(PartialFile.Failure(code: errno, operation: "renaming to \(final)"))
    }
  }

  /// Makes an empty file that must not exist, and renames over that.
  static func placeOverReservation(_ partial: String, as final: String) -> Outcome {
    let reservation = unsafe open(final, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard reservation >= 0 else {
      return errno == EEXIST
        ? .nameTaken
        : .failed(PartialFile.Failure(code: errno, operation: "making \(final)"))
    }
    close(reservation)
    guard unsafe rename(partial, final) == 0 else {
      let failure = PartialFile.Failure(code: errno, operation: "renaming to \(final)")
      unsafe unlink(final)
      return .failed(failure)
    }
    return .placed
  }

  /// Makes the names in a folder outlast a power cut.
  static func synchronizeFolder(_ path: String) throws(PartialFile.Failure) {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw PartialFile.Failure(code: errno, operation: "opening \(path)")
    }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw PartialFile.Failure(code: errno, operation: "syncing \(path)")
    }
  }

  /// Makes the folder and those above it.
  static func makeFolder(_ path: String) throws(PartialFile.Failure) {
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      try makeFolder(String(path[..<slash]))
    }
    guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw PartialFile.Failure(code: errno, operation: "making the folder \(path)")
    }
  }

  /// Cuts a file; one that cannot be cut is cut when it is written next.
  static func cut(_ path: String, to size: Int64) {
    _ = unsafe truncate(path, off_t(size))
  }

  /// Deletes a file; one that is not there is no error.
  static func remove(_ path: String) {
    unsafe unlink(path)
  }
}
