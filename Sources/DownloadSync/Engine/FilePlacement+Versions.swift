internal import DownloadStore
internal import SystemInterface

extension FilePlacement {
  /// Gives a file the name of its previous version, which gets a numbered name before.
  ///
  /// If the file does not get the name, the numbered one is removed again, unless the user or an earlier
  /// process has made it.
  func replace(
    _ previous: FileIdentity,
    of record: DownloadRecord,
    _ layout: FileLayout
  ) -> Outcome {
    let isMade = record.loggedVersion?.found(in: layout.folderPath, orCopy: true) == nil
    switch keep(previous, of: record, layout) {
    case .failure(let failure): return .failed(failure)
    case .success(let version):
      let outcome = replace(layout.finalPath, with: layout.partialPath)
      if outcome == .placed { return .placedKeeping(version) }
      if isMade { withdraw(version, of: previous, layout) }
      return outcome
    }
  }

  /// Removes a numbered name that the previous version has just got, while that version still has the
  /// name of the finished file.
  private func withdraw(
    _ version: KeptVersion,
    of previous: FileIdentity,
    _ layout: FileLayout
  ) {
    var copied = version.identity
    copied.inode = previous.inode
    let path = "\(layout.folderPath)/\(version.filename)"
    guard copied == previous, FileIdentity(ofFileAt: layout.finalPath) == previous,
      FileIdentity(ofFileAt: path) == version.identity
    else { return }
    remove(path)
  }

  /// Gives the previous version of a finished file a numbered name beside its own, and never replaces
  /// another file.
  ///
  /// Has no effect if it has the name that was logged, because a process was killed before the rename. If
  /// another program has taken that name since, the file gets the next free one. On a file system without
  /// hard links, the file is copied.
  ///
  /// - Returns: The version.
  func keep(
    _ previous: FileIdentity,
    of record: DownloadRecord,
    _ layout: FileLayout
  ) -> Result<KeptVersion, PartialFile.Failure> {
    if let logged = record.loggedVersion {
      if let found = logged.found(in: layout.folderPath, orCopy: true) { return .success(found) }
      let code = give(logged, layout)
      if code == 0 { return .success(logged.examined(in: layout.folderPath)) }
      guard code == EEXIST else { return .failure(failure(code, layout)) }
    }
    var first = record.nextVersionNumber
    while let version = KeptVersion.free(
      for: previous,
      named: record.filename,
      in: layout.folderPath,
      from: first
    ) {
      let code = give(version, layout)
      if code == 0 { return .success(version.examined(in: layout.folderPath)) }
      guard code == EEXIST else { return .failure(failure(code, layout)) }
      // Another program was faster.
      first = version.number &+ 1
    }
    return .failure(failure(EEXIST, layout))
  }

  private func failure(_ code: Int32, _ layout: FileLayout) -> PartialFile.Failure {
    PartialFile.Failure(
      code: code,
      operation: "keeping the previous version of \(layout.finalPath)"
    )
  }

  /// Gives the finished file the name of a version; returns the error number, or 0.
  private func give(_ version: KeptVersion, _ layout: FileLayout) -> Int32 {
    let path = "\(layout.folderPath)/\(version.filename)"
    let code = perform(.link(from: layout.finalPath, to: path)) { link(layout.finalPath, path) }
    switch code {
    case EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK: break
    default: return code
    }
    let copy = layout.versionCopyPath
    let copied = perform(.open(path: copy)) {
      errno = version.copy(layout.finalPath, to: copy)
      return errno
    }
    guard copied == 0 else { return copied }
    let outcome = renameExclusively(copy, as: path)
    if outcome != .placed { remove(copy) }
    switch outcome {
    case .placed, .placedKeeping: return 0
    case .nameTaken, .replaced: return EEXIST
    case .failed(let failure): return failure.code
    }
  }

  /// Deletes the kept versions of a completed download beyond those that the user wants, if they are
  /// still the files that it has kept.
  ///
  /// A version that cannot be deleted stays in the record's list, and is deleted with the next one.
  func removeExcessVersions(of record: DownloadRecord, _ layout: FileLayout) {
    guard layout.isBelowRoot, record.keepVersions != nil else { return }
    // A process that was killed while it copied a version has left it.
    remove(layout.versionCopyPath)
    for version in record.excessVersions {
      let path = "\(layout.folderPath)/\(version.filename)"
      guard FileIdentity(ofFileAt: path) == version.identity else { continue }
      remove(path)
    }
  }
}
