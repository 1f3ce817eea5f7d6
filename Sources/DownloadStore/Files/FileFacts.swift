#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What lies on disk for a record, in the words of reconciliation.
public struct FileFacts: Sendable, Hashable {
  /// The finished file.
  public enum Final: String, Sendable, Hashable, CaseIterable {
    /// There is nothing under the name.
    case missing
    /// It is the file that we put there: its stamp is the one that was recorded.
    case ours
    /// It has the size that ours has or would have, and nothing says that it is.
    case sizeOnly
    /// It is something else.
    case mismatch

    /// Whether it is there and not ours, so that it is left alone.
    public var isForeign: Bool { self == .sizeOnly || self == .mismatch }
  }

  /// The partial file, against what was committed as received and the size of the whole.
  public enum Partial: String, Sendable, Hashable, CaseIterable {
    /// There is none.
    case missing
    /// As long as what was committed.
    case equal
    /// Longer: bytes came after the last commit.
    case longer
    /// Shorter: something else cut it.
    case shorter
    /// As long as the whole, all of it committed.
    case complete
    /// Longer than the whole.
    case over
  }

  /// The finished file.
  public var final: Final
  /// The partial file.
  public var partial: Partial
  /// How long the partial file is, in bytes; zero when there is none.
  public var partialSize: Int64

  /// States what lies on disk.
  public init(final: Final, partial: Partial, partialSize: Int64 = 0) {
    self.final = final
    self.partial = partial
    self.partialSize = partialSize
  }

  /// Looks at the files of a record.
  ///
  /// A file is missing only where the system says that there is none. A partial file that cannot be
  /// examined for another reason, such as a network volume that is away, counts as equal to what was
  /// committed, so that nothing is rolled back: opening the file meets the error again. A final path
  /// that cannot be examined counts as occupied.
  ///
  /// Costs two `lstat`.
  public init(of record: DownloadRecord, in layout: FileLayout) {
    if let stamp = FileStamp(ofFileAt: layout.finalPath) {
      let size = record.stamp?.size ?? record.expected
      final = stamp == record.stamp ? .ours : stamp.size == size ? .sizeOnly : .mismatch
    } else {
      // Anything but a regular file is not ours to replace.
      final =
        Self.errorNumber(of: layout.finalPath).map(Self.saysMissing) == true ? .missing : .mismatch
    }
    let size: Int64?
    if let stamp = FileStamp(ofFileAt: layout.partialPath) {
      size = stamp.size
    } else if let code = Self.errorNumber(of: layout.partialPath), !Self.saysMissing(code),
      record.received > 0
    {
      size = record.received
    } else {
      size = nil
    }
    partialSize = size ?? 0
    partial =
      size.map { Self.compare($0, committed: record.received, whole: record.expected) } ?? .missing
  }

  /// The error of `lstat`; `nil` when there is something at `path`.
  private static func errorNumber(of path: String) -> Int32? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? nil : errno
  }

  /// Whether an error of `lstat` means that nothing is there.
  private static func saysMissing(_ code: Int32) -> Bool { code == ENOENT || code == ENOTDIR }

  /// How a partial file's size stands to what was committed and to the whole.
  public static func compare(_ size: Int64, committed: Int64, whole: Int64?) -> Partial {
    if let whole, size > whole { return .over }
    if size < committed { return .shorter }
    if size > committed { return .longer }
    return size == whole ? .complete : .equal
  }
}

/// The one word on a record's file that lists show.
public enum FileStatus: String, Sendable, Hashable, CaseIterable {
  /// Nothing was downloaded yet.
  case absent
  /// Part of the file is there.
  case partial
  /// The finished file is there.
  case present
  /// The record says complete, and the file is gone.
  case missing
  /// The record says complete, and the file is another one.
  case modified

  /// The word for a record and what lies on disk for it.
  public init(of record: DownloadRecord, facts: FileFacts) {
    switch (record.state, facts.final) {
    case (.completed, .ours): self = .present
    case (.completed, .missing): self = .missing
    case (.completed, .sizeOnly), (.completed, .mismatch): self = .modified
    default: self = facts.partial == .missing ? .absent : .partial
    }
  }
}
