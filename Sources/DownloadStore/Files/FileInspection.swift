#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The state of a record's files on disk, an input of reconciliation.
package struct FileInspection: Sendable, Hashable {
  /// The finished file.
  package enum Final: String, Sendable, Hashable, CaseIterable {
    /// The path does not exist.
    case missing
    /// The file is the downloaded one: its identity is the recorded one.
    case ours
    /// A regular file of the expected size, but with another identity.
    case sizeOnly
    /// Anything else, or a path that cannot be examined.
    case mismatch

    /// Whether the path exists and is not the downloaded file, so that it must not be touched.
    package var isForeign: Bool { self == .sizeOnly || self == .mismatch }
  }

  /// The size of the partial file, compared with the committed count and the total size.
  package enum Partial: String, Sendable, Hashable, CaseIterable {
    /// The file does not exist.
    case missing
    /// As long as the committed bytes, up to the last one.
    case equal
    /// Longer: bytes arrived after the last commit.
    case longer
    /// Shorter: something else truncated it.
    case shorter
    /// As long as the total, all of it committed.
    case complete
    /// Longer than the total.
    case over
  }

  /// The finished file.
  package var final: Final
  /// Whether the final path cannot be examined, so that nothing is known about the file.
  ///
  /// ``final`` is ``Final/mismatch`` then: the path counts as occupied.
  package var isFinalUnknown: Bool
  /// The partial file.
  package var partial: Partial
  /// The size of the partial file in bytes; zero if there is none.
  package var partialSize: Int64
  /// The identity of the partial file; `nil` if there is none or it cannot be examined.
  package var partialIdentity: FileIdentity?
  /// Whether another program may have changed or replaced the partial file whose bytes the record
  /// counts; see ``isChanged(_:since:writtenAt:)``.
  package var isPartialChanged: Bool
  /// Whether the partial file has a second name (a hard link), so that it must not be written to.
  package var isPartialShared: Bool
  /// The file at the final path, if the download replaces it: the previous one of a restarted download,
  /// or one that the user asked to replace.
  package var replaced: FileIdentity?
  /// Whether the final path contains a file that the download replaces.
  package var isReplaced: Bool { replaced != nil }

  /// Creates an inspection with known results.
  package init(
    final: Final,
    isFinalUnknown: Bool = false,
    partial: Partial,
    partialSize: Int64 = 0,
    partialIdentity: FileIdentity? = nil,
    isPartialChanged: Bool = false,
    isPartialShared: Bool = false,
    replaced: FileIdentity? = nil
  ) {
    self.final = final
    self.isFinalUnknown = isFinalUnknown
    self.partial = partial
    self.partialSize = partialSize
    self.partialIdentity = partialIdentity
    self.isPartialChanged = isPartialChanged
    self.isPartialShared = isPartialShared
    self.replaced = replaced
  }

  /// Examines the files of a record.
  ///
  /// A file counts as missing only if `lstat` reports that it does not exist. If examining a
  /// partial file fails for another reason, for example on an unreachable network volume, its size
  /// counts as the committed one, so that nothing is rolled back; opening the file reports the
  /// error again. A final path that cannot be examined counts as occupied.
  ///
  /// Costs two `lstat`.
  package init(of record: DownloadRecord, in layout: FileLayout) {
    let examination = PathExamination(layout.finalPath)
    final = Self.final(of: record, examination)
    isFinalUnknown = if case .failed = examination { true } else { false }
    replaced =
      if case .file(let found, _) = examination, record.replaces(found) { found } else { nil }
    let file = PathExamination(layout.partialPath)
    let size = Self.partialSize(of: record, file)
    partialSize = size ?? 0
    if case .file(let identity, let names) = file {
      (partialIdentity, isPartialShared) = (identity, names > 1)
    } else {
      (partialIdentity, isPartialShared) = (nil, false)
    }
    isPartialChanged =
      record.received > 0
      && Self.isChanged(
        partialIdentity,
        since: record.partialIdentity,
        writtenAt: record.partialWrittenAt
      )
    partial =
      size.map { size in
        // Of a map that contradicts itself no byte can be trusted, as of a file that is too short.
        record.isConsistent
          ? Self.compare(size, committed: record.committed, whole: record.expected) : .shorter
      } ?? .missing
  }

  /// Examines only the final path.
  ///
  /// Costs one `lstat`.
  package static func final(of record: DownloadRecord, in layout: FileLayout) -> Final {
    final(of: record, PathExamination(layout.finalPath))
  }

  fileprivate static func final(
    of record: DownloadRecord,
    _ examination: PathExamination
  ) -> Final {
    switch examination {
    case .file(let fileIdentity, _):
      let size = record.fileIdentity?.size ?? record.expected
      return fileIdentity == record.fileIdentity
        ? .ours : fileIdentity.size == size ? .sizeOnly : .mismatch
    case .missing: return .missing
    // Counts as occupied: only regular files are ever replaced.
    case .other, .failed: return .mismatch
    }
  }

  /// The size of the partial file; `nil` if there is none.
  fileprivate static func partialSize(
    of record: DownloadRecord,
    _ examination: PathExamination
  ) -> Int64? {
    switch examination {
    case .file(let fileIdentity, _): fileIdentity.size
    case .failed where record.received > 0: record.committed.end
    case .missing, .other, .failed: nil
    }
  }

  /// Compares the size of a partial file with the end of the committed bytes and the total.
  package static func compare(_ size: Int64, committed: ByteRanges, whole: Int64?) -> Partial {
    if let whole, size > whole { return .over }
    if size < committed.end { return .shorter }
    if size > committed.end { return .longer }
    return size == whole && committed.isPrefix ? .complete : .equal
  }

  /// The time by which the modification time of a partial file may differ from the one that a commit
  /// notes, without another program having changed or replaced the file.
  ///
  /// A kill between a write and its commit leaves a later one. A checkpoint is due a second after a
  /// write; the rest is for a slow sync, and for pieces that are read to record their digests. If a
  /// disk takes even longer, the file is checked needlessly. A power cut can leave an earlier one,
  /// because `fdatasync` need not store it, and so can a copy that rounds times.
  package static let writeTolerance = Duration.seconds(30)

  /// Whether a partial file may be another one than an engine has written, or was changed since.
  ///
  /// That is the case if it has another inode, or was modified noticeably before the last checkpoint
  /// or noticeably after the last write. The opposite is no proof: a program can change a file within
  /// ``writeTolerance``, or set its time back.
  ///
  /// - Parameters:
  ///   - file: The file; `nil` if it cannot be examined.
  ///   - known: The record's ``DownloadRecord/partialIdentity``; `nil` if it is not known.
  ///   - writtenAt: The record's ``DownloadRecord/partialWrittenAt``; `nil` if it is not known.
  /// - Returns: Whether its bytes must be proven; false if nothing is known.
  package static func isChanged(
    _ file: FileIdentity?,
    since known: FileIdentity?,
    writtenAt: Date?
  ) -> Bool {
    guard let file else { return false }
    let tolerance = writeTolerance / .seconds(1)
    if let known {
      let age = known.modificationDate.timeIntervalSince(file.modificationDate)
      if file.inode != known.inode || age > tolerance { return true }
    }
    guard let writtenAt else { return false }
    return file.modificationDate.timeIntervalSince(writtenAt) > tolerance
  }
}

extension DownloadRecord {
  /// The identity of the finished file that the record has downloaded; `nil` if there is none.
  ///
  /// After a restart that is the previous file, until the next one replaces it. What previews, lists,
  /// removals and purges say about a finished file follows from this property.
  package var ownFileIdentity: FileIdentity? {
    let file = fileIdentity ?? replacedFileIdentity
    return file == foreignFileIdentity ? nil : file
  }

  /// The identity of the user's file that the record has adopted or is to replace; `nil` if there is
  /// none.
  ///
  /// Until a new file has the name, this one has it, also if the rename is logged.
  package var foreignFileIdentity: FileIdentity? {
    hasForeignFile ? replacedFileIdentity ?? fileIdentity : nil
  }

  /// Whether the next file takes the name of another one.
  fileprivate func replaces(_ file: FileIdentity) -> Bool {
    file == replacedFileIdentity || file == unnamedFileIdentity
  }

  /// Whether a new file is to replace the record's finished one, which has the name until then.
  package var hasPreviousFile: Bool { replacedFileIdentity != nil && !hasForeignFile }

  /// Whether the final path contains the record's previous file, which the next one will replace.
  package func hasPreviousFile(_ files: FileInspection) -> Bool {
    files.isReplaced && fileIdentity == nil && !hasForeignFile
  }
}

extension DownloadRecord {
  /// The version that has the name; `nil` if it is neither, or no newer one is complete.
  package func namedVersion(_ files: FileInspection) -> NamedVersion? {
    guard hasCompleteNewerVersion else { return nil }
    return files.isReplaced ? .earlier : files.final == .ours ? .newer : nil
  }

  /// Examines the files; costs two `lstat` if a newer version is complete, and otherwise nothing.
  package func namedVersion(in layout: FileLayout) -> NamedVersion? {
    hasCompleteNewerVersion ? namedVersion(FileInspection(of: self, in: layout)) : nil
  }
}

/// The state of a record's file as shown in lists.
package enum FileStatus: String, Sendable, Hashable, CaseIterable {
  /// Nothing was downloaded yet.
  case absent
  /// A partial file exists.
  case partial
  /// The finished file exists.
  case present
  /// The download was restarted and has no partial file; its previous finished file exists.
  case previous
  /// The download is complete, but the file does not exist, or cannot be examined.
  case missing
  /// The download is complete, but the file is a different one.
  case modified

  /// The status of a record with the given files.
  package init(of record: DownloadRecord, files: FileInspection) {
    guard record.state == .completed else {
      self =
        files.partial != .missing ? .partial : record.hasPreviousFile(files) ? .previous : .absent
      return
    }
    // Nothing shows that another program has changed the file.
    self.init(ofCompleted: files.isFinalUnknown ? .missing : files.final)
  }

  /// The status of a record, with only the file examined that decides: the finished file of a
  /// completed download, the partial file of any other.
  ///
  /// Costs one `lstat`, and two for a restarted download without a partial file.
  package init(of record: DownloadRecord, in layout: FileLayout) {
    guard record.state == .completed else {
      if FileInspection.partialSize(of: record, PathExamination(layout.partialPath)) != nil {
        self = .partial
      } else if record.replacedFileIdentity != nil {
        self.init(of: record, files: FileInspection(of: record, in: layout))
      } else {
        self = .absent
      }
      return
    }
    let examination = PathExamination(layout.finalPath)
    if case .failed = examination {
      self = .missing
    } else {
      self.init(ofCompleted: FileInspection.final(of: record, examination))
    }
  }

  private init(ofCompleted final: FileInspection.Final) {
    switch final {
    case .ours: self = .present
    case .missing: self = .missing
    case .sizeOnly, .mismatch: self = .modified
    }
  }
}
