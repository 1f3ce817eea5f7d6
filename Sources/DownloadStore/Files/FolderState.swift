internal import SystemInterface

/// Whether the folder of a record's files can be reached.
///
/// A file in a folder that is missing is not a lost file: the folder may have been moved, or its volume
/// may not be mounted.
package enum FolderState: Sendable, Hashable {
  /// The folder exists.
  case present
  /// The folder does not exist.
  case missing
  /// Files in the folder cannot be examined, such as on a network volume without a connection, or
  /// without the permission to search the folder; the value is the error number.
  case failed(Int32)

  /// Examines a folder; a symbolic link is followed.
  ///
  /// Costs one `stat` and one `access`.
  package init(_ path: String) {
    var status = stat()
    if statFollowingLinks(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else {
        self = .missing
        return
      }
      self = access(path, X_OK) == 0 ? .present : .failed(errno)
    } else {
      let code = errno
      self = code == ENOENT || code == ENOTDIR ? .missing : .failed(code)
    }
  }
}

extension FileLayout {
  /// The reason why nothing is known about the files, for people; `nil` if their folder can be searched.
  ///
  /// Costs one `stat` and one `access`.
  package var folderProblem: String? {
    switch FolderState(folderPath) {
    case .present: nil
    case .missing:
      "the folder \(folderPath) is missing: it was moved or deleted, or its volume is not mounted"
    case .failed(let code): "the folder \(folderPath) cannot be examined: \(systemErrorText(code))"
    }
  }
}

extension DownloadRecord {
  /// Whether the record counts a file in its folder: the bytes of a partial file, or a finished file to
  /// which a refresh returns.
  ///
  /// The bytes of resume data are in a file of the system.
  package var countsFile: Bool { received > 0 && resumeData == nil || earlierVersion != nil }

  /// Why the files of a removed download cannot be deleted now, for people; `nil` if they can be,
  /// or if there are none.
  ///
  /// A file in a folder that is missing is back when its volume is mounted; without the record nothing
  /// would find it. Costs as ``FileLayout/folderProblem``, if the record counts a file, and one
  /// `access`.
  package func removalProblem(in layout: FileLayout) -> String? {
    guard layout.isBelowRoot else { return nil }
    let removesFinal = removesFile && ownFileIdentity != nil
    let countsPartial = completedAt == nil && received > 0 && resumeData == nil
    if countsPartial || removesFinal, let problem = layout.folderProblem { return problem }
    guard access(layout.folderPath, W_OK) != 0 else { return nil }
    let code = errno
    let isFinal = removesFinal && FileIdentity(ofFileAt: layout.finalPath) == ownFileIdentity
    let path = isFinal ? layout.finalPath : layout.partialPath
    guard isFinal || FileIdentity(ofFileAt: path) != nil else { return nil }
    return "\(path) cannot be deleted, because its folder does not permit it: "
      + systemErrorText(code)
  }
}
