import Foundation

@testable import DownloadStore
@testable import DownloadSync

extension DownloadRecord {
  /// Returns a record that was just added.
  static func sample(url: String = "https://example.com/a", mirrors: [String] = []) -> Self {
    let moment = Date(timeIntervalSince1970: 1_700_000_000)
    return DownloadRecord(
      url: url,
      id: RecordIdentity.id(forURL: url),
      filename: "a",
      folder: "",
      root: RootName.standard,
      destination: "default/a",
      type: "",
      state: .waiting,
      intent: .run,
      tags: [],
      priority: 0,
      received: 0,
      expected: nil,
      entityTag: nil,
      lastModified: nil,
      resumeData: nil,
      mirrors: mirrors,
      expectedDigest: nil,
      verifiedDigest: nil,
      nextRetryAt: nil,
      createdAt: moment,
      updatedAt: moment,
      completedAt: nil,
      fileIdentity: nil
    )
  }
}

extension Transfer {
  /// Returns a transfer of a record into a new file.
  static func sample(
    _ record: DownloadRecord,
    path: String,
    inbox: EngineInbox = EngineInbox()
  ) throws -> Transfer {
    Transfer(
      record: record,
      offset: 0,
      usesResumeData: false,
      file: try PartialFile(path: path, offset: 0),
      checkpointBytes: 1_000,
      now: { Date(timeIntervalSince1970: 0) },
      inbox: inbox,
      rollBack: { _, _ in },
      naming: .fromResponse,
      rename: { _ in }
    )
  }
}

extension ActiveTransfer {
  /// Returns an active transfer of a record whose files are in a folder.
  static func sample(
    _ record: DownloadRecord,
    in folder: String,
    task: UInt64? = nil,
    isSuspect: Bool = false,
    startedAt: ContinuousClock.Instant = .now
  ) throws -> Self {
    let layout = FileLayout(record: record, storeID: "s", rootPath: folder)
    var candidate = Scheduler.Candidate(record, order: 1, volume: 1)
    candidate.isSuspect = isSuspect
    return Self(
      record: record,
      layout: layout,
      transfer: try .sample(record, path: layout.partialPath),
      task: task.map(TaskID.init(rawValue:)),
      candidate: candidate,
      started: 1,
      startedAt: startedAt,
      committed: 0
    )
  }
}

extension PartialFile {
  /// Opens a file with the bytes before an offset.
  convenience init(
    path: String,
    offset: Int64,
    faultInjector: (any FaultInjector)? = nil
  ) throws(Failure) {
    try self.init(path: path, keeping: ByteRanges(upTo: offset), faultInjector: faultInjector)
  }

  /// Writes bytes after those before the first gap.
  func write(_ bytes: Span<UInt8>) throws(Failure) {
    try write(bytes, at: position)
  }
}
