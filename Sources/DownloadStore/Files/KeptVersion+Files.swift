internal import SystemInterface

extension KeptVersion {
  /// The most names that are tried.
  private static let attempts = 120

  /// Chooses a free number for the previous version of a file: the first one, unless a hundred are taken.
  ///
  /// Costs one `lstat` for each number that is tried.
  ///
  /// - Parameters:
  ///   - identity: The identity of the previous version.
  ///   - name: The name that it has.
  ///   - folder: The path of its folder.
  ///   - first: The first number to try.
  /// - Returns: The version; `nil` if none of the numbers is free.
  package static func free(
    for identity: FileIdentity,
    named name: String,
    in folder: String,
    from first: Int32
  ) -> Self? {
    var number = first
    for attempt in 0..<attempts where number > 0 {
      let filename = filename(name, number)
      if case .missing = PathExamination("\(folder)/\(filename)") {
        return Self(number: number, filename: filename, identity: identity)
      }
      // Other files may have thousands of numbers: their end is found by ever longer steps.
      number &+= 1 << Int32(max(0, attempt - 99))
    }
    return nil
  }

  /// Returns the version as it is in a folder.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - isCopied: Whether a copy of the file counts too, which has its size and modification time.
  /// - Returns: The version; `nil` if it is gone, or another file has its name.
  package func found(in folder: String, orCopy isCopied: Bool = false) -> Self? {
    guard var found = FileIdentity(ofFileAt: "\(folder)/\(filename)") else { return nil }
    let version = Self(number: number, filename: filename, identity: found)
    if isCopied { found.inode = identity.inode }
    return found == identity ? version : nil
  }

  /// The version that has just got its name, with the identity of that file: a copy has another one.
  package func examined(in folder: String) -> Self {
    let found = FileIdentity(ofFileAt: "\(folder)/\(filename)")
    return Self(number: number, filename: filename, identity: found ?? identity)
  }

  /// Copies the version to a new file with its modification time, its mode and, if this process is
  /// root, its owner, and syncs it.
  ///
  /// For file systems without hard links. Shares the blocks if the file system can. Blocks until the disk
  /// has finished.
  ///
  /// - Parameters:
  ///   - path: The path of the version.
  ///   - target: The path of the copy; a file that an earlier copy has left there is replaced.
  /// - Returns: The error number, or 0. No copy is left after an error.
  package func copy(_ path: String, to target: String) -> Int32 {
    let source = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard source >= 0 else { return errno }
    defer { close(source) }
    var status = stat()
    guard fstat(source, &status) == 0 else { return errno }
    guard FileIdentity(ofDescriptor: source) == identity else { return ESTALE }
    unlink(target)
    let copy = open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard copy >= 0 else { return errno }
    defer { close(copy) }
    var code: Int32 = 0
    let size = identity.size
    if size > 0, cloneRange(from: source, to: copy, at: 0, byteCount: Int(size)) != 0 {
      code = PartialCopy.copy(0..<size, from: source, to: copy)
    }
    let time = status.modificationTime
    if code == 0, geteuid() == 0 { _ = fchown(copy, status.st_uid, status.st_gid) }
    if code == 0, fchmod(copy, status.st_mode & 0o777) != 0 { code = errno }
    if code == 0, futimens(copy, access: time, change: time) != 0 { code = errno }
    if code == 0, fsync(copy) != 0 { code = errno }
    if code != 0 { unlink(target) }
    return code
  }
}

extension DownloadRecord {
  /// The first number for another version: this record uses none twice.
  package var nextVersionNumber: Int32 { (keptVersions.map(\.number).max() ?? 0) &+ 1 }

  /// The numbered name that was logged for the file that the newer version replaces; `nil` for none.
  package var loggedVersion: KeptVersion? {
    replacedFileIdentity.flatMap { file in keptVersions.last { $0.identity == file } }
  }

  /// The kept versions beyond the number that the user wants, oldest first.
  package var excessVersions: ArraySlice<KeptVersion> {
    keepVersions.map { keptVersions.dropLast(Int($0)) } ?? []
  }

  /// Logs the numbered name that the previous file is to get, before it gets it.
  ///
  /// The name is free now, so a file with that name that is the previous one is the record's own, also
  /// after a kill. Costs one `lstat` for each number that another file has.
  package mutating func logVersion(in layout: FileLayout) {
    guard keepVersions != nil, loggedVersion == nil, layout.isBelowRoot,
      let previous = replacedFileIdentity, FileIdentity(ofFileAt: layout.finalPath) == previous,
      let version = KeptVersion.free(
        for: previous,
        named: filename,
        in: layout.folderPath,
        from: nextVersionNumber
      )
    else { return }
    keptVersions.append(version)
  }

  /// The versions that the record keeps once the newer version is complete: those that are still there.
  ///
  /// Costs one `lstat` for each.
  ///
  /// - Parameters:
  ///   - made: The version that has just got its name; `nil` if that was another process.
  ///   - layout: The paths of the files.
  /// - Returns: The versions; `nil` if nothing has changed.
  package func versions(adding made: KeptVersion?, in layout: FileLayout) -> [KeptVersion]? {
    guard layout.isBelowRoot, made != nil || !keptVersions.isEmpty else { return nil }
    let logged = loggedVersion
    var versions = keptVersions.compactMap {
      $0.found(in: layout.folderPath, orCopy: $0 == logged)
    }
    if let made {
      versions.removeAll { $0.number == made.number }
      versions.append(made)
    }
    return versions.suffix(2 * Int(RecordLimits.versionCount.upperBound))
  }
}
