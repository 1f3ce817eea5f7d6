/// What a purge removes, before it does.
public struct PurgePlan: Sendable, Hashable {
  /// A file that is removed.
  public struct File: Sendable, Hashable {
    /// What the file is to its record.
    enum Role: Sendable, Hashable {
      /// The partial file of a record that goes: it goes even if it has grown since.
      case partial
      /// The finished file of a record that goes.
      case finished
      /// A partial file whose record is gone.
      case orphan
    }

    /// Its path.
    public var path: String
    /// What it frees, in bytes.
    public var size: Int64 { stamp.size }
    /// Whether no record owns the file.
    public var isOrphan: Bool { role == .orphan }
    /// The file's identity when the plan was made.
    var stamp: FileStamp
    var role: Role
    /// The id of its record, or of the record that it had.
    var recordID: String

    init(path: String, stamp: FileStamp, role: Role, record: String) {
      self.path = path
      self.stamp = stamp
      self.role = role
      recordID = record
    }
  }

  /// The records.
  public var records: [DownloadRecord] = []
  /// The files.
  public var files: [File] = []
  /// Partial files without a record whose names do not say which store they belong to.
  ///
  /// Earlier builds made them. They are never removed.
  public var unattributedPaths: [String] = []

  /// What the files free together, in bytes; at most `Int64.max`, which sparse files can exceed.
  public var freedBytes: Int64 { files.freedBytes }
}

/// What a purge has removed, and what it has left.
public struct PurgeReport: Sendable, Hashable {
  /// A record that was left because it is not what it was when the plan was made.
  public struct SkippedRecord: Sendable, Hashable {
    /// The record as it was planned.
    public var record: DownloadRecord
    /// The record as it is now; `nil` when another process has removed it.
    public var current: DownloadRecord?
  }

  /// A file that was left.
  public struct KeptFile: Sendable, Hashable {
    /// Why.
    public enum Reason: Sendable, Hashable {
      /// It has changed since the plan was made, or has a record again.
      case changed
      /// Another process is using it.
      ///
      /// An engine that was downloading it deletes it when it sees that the record is gone.
      case inUse
      /// It could not be deleted, with what the system says.
      case failed(String)
    }

    /// The file.
    public var file: PurgePlan.File
    /// Why it was left.
    public var reason: Reason
  }

  /// The records that were removed.
  public var records: [DownloadRecord] = []
  /// The files that are gone.
  public var files: [PurgePlan.File] = []
  /// The records that were left.
  public var skippedRecords: [SkippedRecord] = []
  /// The files that were left, without those of skipped records.
  public var keptFiles: [KeptFile] = []

  /// Nothing was removed, and nothing was left.
  public init() {}

  /// What the removed files freed, in bytes; at most `Int64.max`.
  public var freedBytes: Int64 { files.freedBytes }
}

extension [PurgePlan.File] {
  fileprivate var freedBytes: Int64 {
    Int64(clamping: reduce(0 as Int128) { $0 + Int128($1.size) })
  }
}
