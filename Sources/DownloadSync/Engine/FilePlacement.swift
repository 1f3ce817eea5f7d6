internal import DownloadStore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The steps that give a finished file its name.
struct FilePlacement: Sendable {
  /// What became of a rename.
  enum Outcome: Hashable {
    /// The file has its name.
    case placed
    /// Something has the name already. Nothing happened.
    case nameTaken
    /// The file system refused.
    case failed(PartialFile.Failure)
  }

  /// Is asked before each step; `nil` in everything but a simulation.
  var faultInjector: (any FaultInjector)?

  /// Gives the file its final name, without ever replacing what is there.
  ///
  /// On Linux as a second name that must not exist, after which the first one goes: `renameat2` is
  /// not to be had from Swift. A kill in between leaves one file under both names, which is known
  /// for ours by its stamp.
  func place(_ partial: String, as final: String) -> Outcome {
    #if canImport(Darwin)
      let code = perform(.rename(from: partial, to: final)) {
        unsafe renamex_np(partial, final, UInt32(RENAME_EXCL))
      }
      if code == 0 { return .placed }
    #else
      let code = perform(.link(from: partial, to: final)) { unsafe link(partial, final) }
      if code == 0 {
        remove(partial)
        return .placed
      }
    #endif
    switch code {
    case EEXIST: return .nameTaken
    // Some file systems have no second names, or no such rename.
    case EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK: return placeOverReservation(partial, as: final)
    default: return .failed(PartialFile.Failure(code: code, operation: "renaming to \(final)"))
    }
  }

  /// Makes an empty file that must not exist, and renames over that.
  func placeOverReservation(_ partial: String, as final: String) -> Outcome {
    let reserved = perform(.open(path: final)) {
      let reservation = unsafe open(final, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if reservation >= 0 { close(reservation) }
      return min(reservation, 0)
    }
    guard reserved == 0 else {
      return reserved == EEXIST
        ? .nameTaken
        : .failed(PartialFile.Failure(code: reserved, operation: "making \(final)"))
    }
    let code = perform(.rename(from: partial, to: final)) { unsafe rename(partial, final) }
    guard code == 0 else {
      remove(final)
      return .failed(PartialFile.Failure(code: code, operation: "renaming to \(final)"))
    }
    return .placed
  }

  /// Makes the names in a folder outlast a power cut.
  func synchronizeFolder(_ path: String) throws(PartialFile.Failure) {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw PartialFile.Failure(code: errno, operation: "opening \(path)")
    }
    defer { close(descriptor) }
    let code = perform(.synchronizeFolder(path: path)) { fsync(descriptor) }
    guard code == 0 || code == EINVAL else {
      throw PartialFile.Failure(code: code, operation: "syncing \(path)")
    }
  }

  /// Makes the folder and those above it.
  func makeFolder(_ path: String) throws(PartialFile.Failure) {
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      try makeFolder(String(path[..<slash]))
    }
    let code = perform(.makeFolder(path: path)) { unsafe mkdir(path, 0o777) }
    guard code == 0 || code == EEXIST else {
      throw PartialFile.Failure(code: code, operation: "making the folder \(path)")
    }
  }

  /// Cuts a partial file; one that cannot be cut is cut when it is written next.
  func cutPartial(_ path: String, to size: Int64) {
    guard let file = try? LockedFile(path, for: .writing) else { return }
    _ = perform(.cut(path: path, size: size)) { ftruncate(file.descriptor, off_t(size)) }
  }

  /// What became of the deletion of a partial file.
  enum Removal: Hashable {
    /// It is gone.
    case removed
    /// There was none.
    case missing
    /// It was left alone: another process is using it, or it cannot be deleted.
    case refused(LockedFile.Refusal)
  }

  /// Deletes a partial file, unless another process is using it.
  @discardableResult
  func removePartial(_ path: String) -> Removal {
    do throws(LockedFile.Refusal) {
      // The lock is held until the name is gone.
      let file = try LockedFile(path, for: .deleting)
      let code = withExtendedLifetime(file) {
        perform(.remove(path: path)) { unsafe unlink(path) }
      }
      return code == 0 ? .removed : code == ENOENT ? .missing : .refused(.failed(code))
    } catch {
      return error == .missing ? .missing : .refused(error)
    }
  }

  /// Gives a partial file the name that says which store it belongs to, if a build made it that did
  /// not give stores an id.
  ///
  /// A file that has fewer bytes than the record counts, or none that it counts, may be another
  /// store's.
  ///
  /// - Returns: Whether there was such a file.
  @discardableResult
  func adoptEarlierPartial(of record: DownloadRecord, _ layout: FileLayout) -> Bool {
    guard record.received > 0, FileIdentity(ofFileAt: layout.partialPath) == nil,
      let file = try? LockedFile(layout.earlierPartialPath, for: .writing),
      let fileIdentity = file.fileIdentity, fileIdentity.size >= record.received
    else { return false }
    let (old, new) = (layout.earlierPartialPath, layout.partialPath)
    return withExtendedLifetime(file) {
      perform(.rename(from: old, to: new)) { unsafe rename(old, new) } == 0
    }
  }

  /// Deletes a file, and says whether there was one; one that is not there is no error.
  @discardableResult
  func remove(_ path: String) -> Bool {
    perform(.remove(path: path)) { unsafe unlink(path) } == 0
  }

  /// The error number of a call, or of the refusal; 0 when it was made.
  private func perform(_ effect: Effect, _ call: () -> Int32) -> Int32 {
    if let code = faultInjector?.refusal(of: effect) { return code }
    guard call() == 0 else { return errno }
    faultInjector?.didPerform(effect)
    return 0
  }
}
