/// A difference between a record and its files.
package struct FileProblem: Sendable, Hashable {
  /// The kinds of difference.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The folder of a file is missing or cannot be examined, so nothing is known about the file.
    case folderMissing
    /// The file of a completed download does not exist.
    case missing
    /// The file of a completed download has the size, but is another file or was written to.
    case modified
    /// The file of a completed download has another size.
    case sizeDiffers
    /// Bytes were committed, but the partial file does not exist.
    case partialMissing
    /// The partial file is shorter than the committed count.
    case partialShort
    /// The partial file is longer than the complete file.
    case partialLong
    /// The store has no root of the name in the record.
    case missingRoot
    /// Another record has the same id, and so the same partial file.
    case duplicateID
    /// Another record has the same destination.
    case duplicateDestination
    /// Another record has one of the keys.
    case duplicateKey
    /// A partial file of this store has no record, or its download is complete.
    case orphan
  }

  /// The kind.
  package var kind: Kind
  /// The id of the record, or of the former record of an orphan.
  package var recordID: String
  /// The URL of the record; `nil` for an orphan.
  package var url: String?
  /// The path of the file; `nil` if the root is missing.
  package var path: String?
  /// What was found, without the path.
  package var message: String
  /// Whether a ``Kind/modified`` file has only another inode, as a copy with the time has.
  package var isCopy = false
}

extension FileProblem.Kind {
  /// The problem of a record whose files were examined; `nil` if there is none.
  ///
  /// A file in a folder that is missing is not called missing. A partial file that is longer than the
  /// committed count is none: bytes arrive between two commits. Nor is a partial file of a cancelled or
  /// removed download.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - files: Its files.
  ///   - finalSize: The size of the finished file in bytes; `nil` if there is no regular file.
  init?(of record: DownloadRecord, files: FileInspection, finalSize: Int64?) {
    switch record.state {
    case .completed:
      switch files.final {
      case .ours: return nil
      case .missing: self = .missing
      case .sizeOnly: self = .modified
      case .mismatch:
        let expected = record.fileIdentity?.size ?? record.expected
        self = finalSize == nil || finalSize == expected ? .modified : .sizeDiffers
      }
    case .finalizing where files.final == .ours:
      return nil
    case .waiting, .running, .paused, .failedRetryable, .failedPermanent, .finalizing:
      // The bytes of resume data are in a file of the system.
      guard record.received > 0, record.resumeData == nil else { return nil }
      switch files.partial {
      case .equal, .longer, .complete: return nil
      case .missing: self = .partialMissing
      case .shorter: self = .partialShort
      case .over: self = .partialLong
      }
    case .cancelled, .removed: return nil
    }
  }
}

extension FileProblem {
  /// The problem of a record that has the id, the destination or a key of another one.
  init(_ kind: Kind, of record: DownloadRecord, in roots: Roots) {
    self.init(
      kind: kind,
      recordID: record.id,
      url: record.url,
      path: try? roots.finalPath(of: record),
      message: Self.message(ofDuplicate: kind)
    )
  }

  private static func message(ofDuplicate kind: Kind) -> String {
    switch kind {
    case .duplicateID:
      "another download has the id: remove one of them by its URL, and add it again"
    case .duplicateKey:
      "another download has one of its keys, or a URL that is one of its keys: remove one of them by "
        + "its URL, and add it again"
    default: "another download has the file name: give one of them another name"
    }
  }

  /// Examines the files of a record; `nil` if they agree with it.
  init?(of record: DownloadRecord, in roots: Roots) {
    guard let layout = try? roots.layout(of: record) else {
      self.init(
        kind: .missingRoot,
        recordID: record.id,
        url: record.url,
        path: nil,
        message: "the store has no root named '\(record.root)'"
      )
      return
    }
    let files = FileInspection(of: record, in: layout)
    let identity = FileIdentity(ofFileAt: layout.finalPath)
    guard let kind = Kind(of: record, files: files, finalSize: identity?.size) else { return nil }
    let folderProblem = layout.folderProblem
    let isCopy =
      kind == .modified
      && record.fileIdentity.map { identity?.mayBeCopy(of: $0) == true } == true
    self.init(
      kind: folderProblem == nil ? kind : .folderMissing,
      recordID: record.id,
      url: record.url,
      path: record.state == .completed ? layout.finalPath : layout.partialPath,
      message: folderProblem
        ?? (isCopy
          ? "not the downloaded file, but one with its size and time, such as a copy"
          : Self.message(kind, record, files, identity?.size)),
      isCopy: isCopy
    )
  }

  private static func message(
    _ kind: Kind,
    _ record: DownloadRecord,
    _ files: FileInspection,
    _ size: Int64?
  ) -> String {
    switch kind {
    case .missing: "the file of the completed download is missing"
    case .modified where size == nil:
      "the path of the completed download is not a regular file, or cannot be examined"
    case .modified: "the file has changed since the download was completed"
    case .sizeDiffers:
      "the file has \(size ?? 0) bytes; the downloaded one had "
        + "\(record.fileIdentity?.size ?? record.expected ?? 0)"
    case .partialMissing: "the partial file with \(record.received) committed bytes is missing"
    case .partialShort:
      "the partial file has \(files.partialSize) bytes; \(record.received) are committed"
    case .partialLong:
      "the partial file has \(files.partialSize) bytes; the whole file has \(record.expected ?? 0)"
    case .folderMissing, .missingRoot, .duplicateID, .duplicateDestination, .duplicateKey, .orphan:
      ""
    }
  }
}

/// The result of comparing all records with their files.
package struct FileReport: Sendable, Hashable {
  /// The number of records compared.
  package var recordCount = 0
  /// The first problems, up to the limit.
  package var problems: [FileProblem] = []
  /// The number of problems of each kind.
  package var problemCounts: [FileProblem.Kind: Int] = [:]
  /// The number of ``FileProblem/isCopy`` files.
  package private(set) var copyCount = 0
  /// The roots below which no file of a download exists, as after their folder has moved.
  package private(set) var emptyRoots: [EmptyRoot] = []
  /// The files below each root, by its name.
  private var rootFiles: [String: RootFiles] = [:]

  /// A root whose files are all missing.
  package struct EmptyRoot: Sendable, Hashable {
    /// The name.
    package var name: String
    /// The path of its folder, which may be missing, too.
    package var path: String
    /// The number of missing files.
    package var fileCount: Int
  }

  private struct RootFiles: Hashable {
    var missing = 0
    var present = 0
  }

  /// Whether a finished file of the right size has another identity.
  package var hasModified: Bool { problemCounts[.modified] != nil }

  /// The total number of problems.
  package var problemCount: Int { problemCounts.values.reduce(0, +) }

  mutating func add(_ problem: FileProblem, limit: Int) {
    problemCounts[problem.kind, default: 0] += 1
    if problem.isCopy { copyCount += 1 }
    if problems.count < limit { problems.append(problem) }
  }

  /// Says of files that were compared with their digests that these differ.
  ///
  /// - Parameter paths: Their paths.
  package mutating func noteOtherContents(at paths: [String]) {
    let paths = Set(paths)
    for index in problems.indices
    where problems[index].kind == .modified && problems[index].path.map(paths.contains) == true {
      if problems[index].isCopy { copyCount -= 1 }
      problems[index].isCopy = false
      problems[index].message = "the file has other contents than its download"
    }
  }

  /// Counts a record, and the file that it counts as present or missing.
  mutating func note(_ record: DownloadRecord, _ problem: FileProblem?) {
    recordCount += 1
    switch problem?.kind {
    case .folderMissing, .missing, .partialMissing:
      rootFiles[record.root, default: RootFiles()].missing += 1
    case .missingRoot: break
    case nil where record.state != .completed && !record.countsFile: break
    default: rootFiles[record.root, default: RootFiles()].present += 1
    }
  }

  /// Finds the empty roots, after all records were counted.
  ///
  /// If the folder exists, one missing file is not enough: a user may have deleted it. The folder of
  /// temporary files is not one that a user moves.
  mutating func findEmptyRoots(of roots: Roots) {
    emptyRoots = roots.all.compactMap { name, path in
      guard let files = rootFiles[name], files.present == 0 else { return nil }
      switch FolderState(path) {
      case .missing where files.missing > 0, .present where files.missing > 1:
        return EmptyRoot(name: name, path: path, fileCount: files.missing)
      case .missing, .present, .failed: return nil
      }
    }
  }
}
