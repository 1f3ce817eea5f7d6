internal import DownloadStore
internal import SystemInterface

/// The operations that place, truncate and delete files.
///
/// Each operation is passed to the fault injector first.
struct FilePlacement: Sendable {
  /// The result of giving a file its final name.
  enum Outcome: Hashable {
    /// The file has its final name.
    case placed
    /// The same, and the previous file, which had the name, has a numbered one.
    case placedKeeping(KeptVersion)
    /// The partial file is not the one that was checked; nothing was changed.
    case replaced
    /// The name is taken; nothing was changed.
    case nameTaken
    /// The file system returned an error.
    case failed(PartialFile.Failure)
  }

  /// Asked before each operation; `nil` outside tests.
  var faultInjector: (any FaultInjector)?

  /// Gives a file its final name, and never replaces another file.
  ///
  /// Darwin has an exclusive rename. On Linux not every file system has one, so this creates a hard
  /// link, which fails if the name is taken, and then removes the old name. A kill between the two
  /// leaves one file with both names; its file identity shows that it belongs to the record. If the old
  /// name cannot be removed, the file counts as not placed, so that the record owns this name until a
  /// later attempt has removed it. A file system without hard links may have the exclusive rename.
  func place(_ partial: String, as final: String) -> Outcome {
    #if canImport(Darwin)
      return renameExclusively(partial, as: final)
    #else
      let code = perform(.link(from: partial, to: final)) { link(partial, final) }
      switch code {
      case 0: return removeCopy(partial)
      case EEXIST: return .nameTaken
      case EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK: return renameExclusively(partial, as: final)
      default: return .failed(PartialFile.Failure(code: code, operation: "renaming to \(final)"))
      }
    #endif
  }

  /// Removes the partial name of a file that has its final one.
  func removeCopy(_ partial: String) -> Outcome {
    let code = remove(partial)
    guard code != 0 else { return .placed }
    let operation = "removing \(partial), the old name of the complete file"
    return .failed(PartialFile.Failure(code: code, operation: operation, isRetried: true))
  }

  /// Gives a file its final name on a file system without hard links.
  func renameExclusively(_ partial: String, as final: String) -> Outcome {
    let code = perform(.rename(from: partial, to: final)) {
      let code = RenameWithoutReplacing.rename(partial, to: final)
      errno = code
      return code
    }
    switch code {
    case 0: return .placed
    case EEXIST: return .nameTaken
    case ENOTSUP, ENOSYS, EINVAL: return placeOverReservation(partial, as: final)
    default: return .failed(PartialFile.Failure(code: code, operation: "renaming to \(final)"))
    }
  }

  /// What a path names, compared with a file that was examined before.
  enum Comparison: Hashable {
    /// The file, unchanged.
    case same
    /// The file, with another modification time.
    ///
    /// Another program may have changed it. File systems over a network also change the time by
    /// themselves, when they store the bytes.
    case touched
    /// Another file, or none.
    case other
    /// The path cannot be examined.
    case failed(PartialFile.Failure)
  }

  /// Compares what a path names with a file that was examined before.
  func compare(_ path: String, with identity: FileIdentity) -> Comparison {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let code = errno
      guard code != ENOENT else { return .other }
      return .failed(PartialFile.Failure(code: code, operation: "examining \(path)"))
    }
    guard var current = FileIdentity(ofFileAt: path) else { return .other }
    if current == identity { return .same }
    current.modified = identity.modified
    return current == identity ? .touched : .other
  }

  /// Reserves the name with a file of its own, and renames the partial file over it.
  ///
  /// A kill between the two leaves the reservation, which the same partial file recognizes.
  func placeOverReservation(_ partial: String, as final: String) -> Outcome {
    let code = perform(.open(path: final)) {
      let code = NameReservation.reserve(final, for: partial)
      errno = code
      return code
    }
    guard code == 0 else {
      return code == EEXIST
        ? .nameTaken
        : .failed(PartialFile.Failure(code: code, operation: "creating \(final)"))
    }
    let outcome = replace(final, with: partial)
    if outcome != .placed { remove(final) }
    return outcome
  }

  /// Gives a file the name of another one, which loses it in the same step.
  ///
  /// A kill leaves one of the two files under the name. See ``FolderOwner/rename(_:over:)``.
  func replace(_ final: String, with partial: String) -> Outcome {
    let code = perform(.rename(from: partial, to: final)) {
      errno = FolderOwner.rename(partial, over: final)
      return errno
    }
    return code == 0
      ? .placed : .failed(PartialFile.Failure(code: code, operation: "renaming to \(final)"))
  }

  /// Syncs a folder, so that the names in it survive a power failure.
  func synchronizeFolder(_ path: String) throws(PartialFile.Failure) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw PartialFile.Failure(code: errno, operation: "opening \(path)")
    }
    defer { close(descriptor) }
    let code = perform(.synchronizeFolder(path: path)) { fsync(descriptor) }
    // Some file systems cannot sync folders and return EINVAL.
    guard code == 0 || code == EINVAL else {
      throw PartialFile.Failure(code: code, operation: "syncing \(path)")
    }
  }

  /// Creates a folder and its missing parent folders.
  ///
  /// Those that root creates belong to the owner of the folder that contains them.
  func makeFolder(_ path: String) throws(PartialFile.Failure) {
    var status = stat()
    if statFollowingLinks(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    // A slash with a combining mark is one Character, but a slash to the file system.
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex {
      try makeFolder(String(path[..<slash]))
    }
    let code = perform(.makeFolder(path: path)) { mkdir(path, 0o777) }
    guard code == 0 || code == EEXIST else {
      throw PartialFile.Failure(code: code, operation: "creating the folder \(path)")
    }
    if code == 0 { FolderOwner.giveFolder(path) }
  }

  /// Truncates a partial file; see ``LockedFile/cut(to:)``.
  ///
  /// Errors may be ignored, because the next transfer truncates the file again when it opens it.
  ///
  /// - Returns: Whether the file was truncated.
  @discardableResult
  func cutPartial(_ path: String, to size: Int64) -> Bool {
    guard let file = try? LockedFile(path, for: .writing) else { return false }
    return perform(.cut(path: path, size: size)) { file.cut(to: size) } == 0
  }

  /// The result of deleting a partial file.
  enum Removal: Hashable {
    /// The file was deleted.
    case removed
    /// There was no file.
    case missing
    /// The file was kept: another process is using it, or it cannot be deleted.
    case refused(LockedFile.Refusal)
  }

  /// Deletes a partial file, unless another process is using it.
  ///
  /// A symbolic link, a pipe or a device with its name is removed, too: the name has the ids of the
  /// record and of the store, so it is the store's. A folder stays.
  @discardableResult
  func removePartial(_ path: String) -> Removal {
    do throws(LockedFile.Refusal) {
      // The lock is held until the name is gone.
      let file = try LockedFile(path, for: .deleting)
      let code = withExtendedLifetime(file) {
        perform(.remove(path: path)) { unlink(path) }
      }
      return code == 0 ? .removed : code == ENOENT ? .missing : .refused(.failed(code))
    } catch {
      // `unlink` neither follows a link nor removes a folder.
      if case .notOurs = error, perform(.remove(path: path), { unlink(path) }) == 0 {
        return .removed
      }
      return error == .missing ? .missing : .refused(error)
    }
  }

  /// Deletes a file, and returns the error number; a missing file is not an error.
  @discardableResult
  func remove(_ path: String) -> Int32 {
    let code = perform(.remove(path: path)) { unlink(path) }
    return code == ENOENT || code == ENOTDIR ? 0 : code
  }

  /// Performs an operation, unless the fault injector refuses it.
  ///
  /// Returns 0 on success, and otherwise the error number of the operation or the refusal.
  func perform(_ effect: Effect, _ call: () -> Int32) -> Int32 {
    if let code = faultInjector?.refusal(of: effect) { return code }
    guard call() == 0 else { return errno }
    faultInjector?.didPerform(effect)
    return 0
  }
}
