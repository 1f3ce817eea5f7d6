internal import SystemInterface

/// Decides whether a file that settings are read from can be changed by another user.
enum FileTrust {
  /// Returns why an open file is not to be trusted; `nil` if it is.
  ///
  /// A file that its group can write is trusted if the group is the owner's own, as on systems with
  /// a group for each user. So is a folder with the sticky bit, in which nobody can replace it.
  ///
  /// - Parameters:
  ///   - descriptor: The file.
  ///   - path: Its absolute path.
  ///   - requiresOwner: Whether the file must belong to the effective user or to root. A file that
  ///     the user names may belong to anybody, such as one that is mounted into a container.
  /// - Returns: The reason as a clause, with what to do.
  static func objection(to descriptor: Int32, at path: String, requiresOwner: Bool) -> String? {
    var file = stat()
    // Standard input and pipes are what the user connected them to.
    guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG else { return nil }
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    var folder = stat()
    let hasFolder =
      statFollowingLinks(end == path.startIndex ? "/" : String(path[..<end]), &folder) == 0
    return objection(
      to: Permissions(file),
      in: hasFolder ? Permissions(folder) : nil,
      user: geteuid(),
      requiresOwner: requiresOwner,
      isPrivate: isPrivate
    )
  }

  /// The owner and the mode of a file.
  struct Permissions: Hashable {
    var user: uid_t
    var group: gid_t
    var mode: mode_t

    init(user: uid_t, group: gid_t, mode: mode_t) {
      self.user = user
      self.group = group
      self.mode = mode
    }

    fileprivate init(_ status: stat) {
      self.init(user: status.st_uid, group: status.st_gid, mode: status.st_mode)
    }
  }

  /// The decision; pure.
  static func objection(
    to file: Permissions,
    in folder: Permissions?,
    user: uid_t,
    requiresOwner: Bool,
    isPrivate: (_ group: gid_t, _ user: uid_t) -> Bool
  ) -> String? {
    func isShared(_ permissions: Permissions) -> Bool {
      permissions.mode & 0o002 != 0
        || (permissions.mode & 0o020 != 0 && !isPrivate(permissions.group, permissions.user))
    }
    if requiresOwner, file.user != user, file.user != 0 {
      return "it belongs to another user: name it with --config, or set DLSTORE_CONFIG to nothing"
    }
    if isShared(file) { return "other users can write it: remove that with chmod go-w" }
    guard let folder, folder.mode & mode_t(S_ISVTX) == 0, isShared(folder) else { return nil }
    return "other users can write its folder: remove that with chmod go-w"
  }

  /// Whether only one user belongs to a group.
  private static func isPrivate(_ group: gid_t, _ user: uid_t) -> Bool {
    // Root's group has no members that root must fear.
    if group == 0 { return true }
    // In a container the ids may have no names.
    return isPrivateGroup(group, of: user) ?? (group == user)
  }
}
