/// The records and files that a purge will remove.
///
/// ```swift
/// let completed = try store.records(DownloadRecord.where { $0.state == .completed })
/// let plan = try store.purgePlan(completed, withFiles: true)
/// print("deletes", plan.files.count, "files with", plan.freedBytes, "bytes")
/// try store.purge(plan)
/// ```
public struct PurgePlan: Sendable, Hashable {
  /// A file to remove.
  public struct File: Sendable, Hashable {
    /// The file's relation to its record.
    enum Role: Sendable, Hashable {
      /// The partial file of a record to remove; removed even if it has grown since.
      case partial
      /// The finished file of a record to remove.
      case finished
      /// A partial file without a record.
      case orphan
    }

    /// Its path.
    public var path: String
    /// The size in bytes.
    public var size: Int64 { fileIdentity.size }
    /// Whether the file has no record.
    package var isOrphan: Bool { role == .orphan }
    /// The file's identity when the plan was made.
    var fileIdentity: FileIdentity
    var role: Role
    /// The id of its current or former record.
    var recordID: String

    init(path: String, fileIdentity: FileIdentity, role: Role, record: String) {
      self.path = path
      self.fileIdentity = fileIdentity
      self.role = role
      recordID = record
    }
  }

  /// The records.
  public var records: [DownloadRecord] = []
  /// The files.
  public var files: [File] = []
  /// Files with the names of finished ones that are not the downloaded ones.
  ///
  /// They were changed, replaced or adopted, and are never removed. Empty if finished files are kept
  /// anyway.
  public var foreignPaths: [String] = []

  /// Records that are kept, because the folders of the finished files that would be removed with them
  /// are missing or cannot be examined: a volume that is not mounted may still have the files.
  public var unreachableRecords: [DownloadRecord] = []

  /// The total size of the files in bytes, clamped to `Int64.max`, which sparse files can exceed.
  ///
  /// These are the sizes that a listing shows. The file system frees whole blocks, and nothing for a
  /// file that has another hard link.
  public var freedBytes: Int64 { files.freedBytes }
}

/// The result of a purge.
///
/// ```swift
/// let report = try store.purge(plan)
/// print("freed", report.freedBytes, "bytes")
/// for kept in report.keptFiles { print("kept", kept.file.path, kept.reason) }
/// for skipped in report.skippedRecords { print("changed since the plan:", skipped.record.url) }
/// ```
public struct PurgeReport: Sendable, Hashable {
  /// A record that was kept because it changed after the plan was made.
  public struct SkippedRecord: Sendable, Hashable {
    /// The record in the plan.
    public var record: DownloadRecord
    /// The current record; `nil` if another process removed it.
    public var current: DownloadRecord?
  }

  /// A file that was kept.
  public struct KeptFile: Sendable, Hashable {
    /// The reason.
    public enum Reason: Sendable, Hashable {
      /// The file changed after the plan was made, or has a record again.
      case changed
      /// Another process is using it.
      ///
      /// An engine that is downloading it deletes it when it notices that the record was removed.
      case inUse
      /// The file could not be deleted, with the system's error.
      case failed(String)
    }

    /// The file.
    public var file: PurgePlan.File
    /// The reason why it was kept.
    public var reason: Reason

    /// Whether its record is kept, too, as a removed download: a finished file that cannot be deleted,
    /// such as on a volume that is mounted read-only.
    package var keepsRecord: Bool {
      if case .failed = reason { file.role == .finished } else { false }
    }
  }

  /// The records that were removed.
  public var records: [DownloadRecord] = []
  /// The files that were removed.
  public var files: [PurgePlan.File] = []
  /// The records that were kept.
  public var skippedRecords: [SkippedRecord] = []
  /// The files that were kept, without those of skipped records.
  public var keptFiles: [KeptFile] = []

  /// Creates an empty report.
  package init() {}

  /// The total size of the removed files in bytes, clamped to `Int64.max`.
  public var freedBytes: Int64 { files.freedBytes }
}

extension [PurgePlan.File] {
  fileprivate var freedBytes: Int64 {
    Int64(clamping: reduce(0 as Int128) { $0 + Int128($1.size) })
  }
}
