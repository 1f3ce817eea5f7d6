internal import SystemInterface

/// Opens the files in the folder of an environment.
///
/// Another user who can write the folder could plant a link or a pipe under the name of one of its
/// files. All opens go through this type, which follows no link, never waits for a pipe, and accepts
/// only regular files of a plausible owner.
package enum StoreFile {
  /// Opens a file in a folder; with `O_CREAT` among the flags, creates it if it is missing.
  ///
  /// The file must belong to the effective user, to root or to the owner of the folder. Any owner is
  /// accepted in a folder that a group may write, or that belongs to the effective user or to root,
  /// unless every user may write it. In the folder of another user, a file other than the data file
  /// must have one name only. Root gives a file that it creates the owner of the data file, or of
  /// the folder if there is none, so that the owner can still open the environment.
  ///
  /// - Throws: ``LMDBError`` with `accessDenied` for a link, for a file that is not regular and for
  ///   the file of another user; or another system error.
  package static func open(
    _ name: String,
    in folder: String,
    flags: Int32,
    mode: UInt32 = 0o600
  ) throws(LMDBError) -> Int32 {
    let path = "\(folder)/\(name)"
    while true {
      do throws(LMDBError) {
        let descriptor = try openRegular(path, flags: flags & ~O_CREAT)
        do throws(LMDBError) {
          try checkOwner(of: descriptor, name, in: folder)
        } catch {
          EnvironmentFile.close(descriptor)
          throw error
        }
        return descriptor
      } catch {
        guard error.code == .noSuchFile, flags & O_CREAT != 0 else { throw error }
      }
      let all = flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let descriptor = SystemInterface.open(path, all, mode_t(mode))
      if descriptor >= 0 {
        adoptOwner(descriptor, in: folder)
        return descriptor
      }
      // Another process has created it first.
      guard errno == EEXIST else { throw failure(errno, name) }
    }
  }

  /// Opens an existing regular file.
  ///
  /// - Throws: ``LMDBError`` with `noSuchFile`, `accessDenied` for a link and for a file that is not
  ///   regular, or another system error.
  package static func openRegular(_ path: String, flags: Int32) throws(LMDBError) -> Int32 {
    let name = lastName(in: path)
    // Opening a pipe must not wait for its other end.
    let all = flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = SystemInterface.open(path, all)
    guard descriptor >= 0 else { throw failure(errno, name) }
    do throws(LMDBError) {
      guard try EnvironmentFile.status(of: descriptor).st_mode & S_IFMT == S_IFREG else {
        throw LMDBError(.accessDenied, operation: "\(name) is not a regular file")
      }
    } catch {
      EnvironmentFile.close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func failure(_ code: Int32, _ name: String) -> LMDBError {
    switch code {
    case ELOOP:
      LMDBError(.accessDenied, operation: "\(name) is a symbolic link, which is not followed")
    // A folder; a pipe or a socket, or a device without a driver.
    case EISDIR, ENXIO:
      LMDBError(.accessDenied, operation: "\(name) is not a regular file")
    default: LMDBError(LMDBError.Code(rawValue: code), operation: "opening \(name)")
    }
  }

  private static func checkOwner(
    of descriptor: Int32,
    _ name: String,
    in folder: String
  ) throws(LMDBError) {
    let file = try EnvironmentFile.status(of: descriptor)
    var status = stat()
    guard statFollowingLinks(folder, &status) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "stat")
    }
    let user = geteuid()
    // A migration keeps the previous data file under a second name.
    guard file.st_nlink < 2 || status.st_uid == user || name.hasSuffix("data.mdb") else {
      throw LMDBError(.accessDenied, operation: "\(name) has a second name (a hard link)")
    }
    if [user, 0, status.st_uid].contains(file.st_uid) { return }
    let isTrusted = [user, 0].contains(status.st_uid) || status.st_mode & S_IWGRP != 0
    guard isTrusted, status.st_mode & S_IWOTH == 0 else {
      throw LMDBError(.accessDenied, operation: name + LMDBError.foreignFile)
    }
  }

  /// Gives a file that root has created the owner of the environment.
  private static func adoptOwner(_ descriptor: Int32, in folder: String) {
    guard geteuid() == 0 else { return }
    var status = stat()
    guard lstat("\(folder)/data.mdb", &status) == 0 || statFollowingLinks(folder, &status) == 0
    else {
      return
    }
    // Without the right to do this, as in some containers, the file stays root's.
    if status.st_uid != 0 || status.st_gid != 0 {
      _ = fchown(descriptor, status.st_uid, status.st_gid)
    }
  }
}
