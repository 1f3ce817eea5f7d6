internal import DownloadStore

// What ``StartQueue`` is told about the store, and what it returns.

extension StartQueue {
  /// The downloads that start now, and those that are ended in their favor.
  struct Starts {
    var starting: [Scheduler.Candidate] = []
    /// The URLs of the transfers that are preempted.
    var preempted: [String] = []
    /// The URLs of the transfers that are ended and continue later: slow ones, and those beside a
    /// crash suspect that has to run alone.
    var suspended: [String] = []
    /// The URLs of the transfers that give a connection away, and its server; `nil` for any.
    var narrowed: [(url: String, origin: String?)] = []
    /// The downloads to read from the store before others start; `nil` if none are needed.
    var need: Backlog.Need?
  }

  /// A record of the store that may start, with what the engine knows about it.
  struct Stored {
    var record: DownloadRecord
    /// The volume of its file.
    var volume: UInt64
    /// The time before which it does not start; `nil` if it may start now.
    var deadline: RetryDeadline?
  }
}

extension Scheduler.Candidate {
  /// Creates the candidate of a record.
  init(_ record: DownloadRecord, order: Int, volume: UInt64) {
    self.init(
      recordID: record.id,
      url: record.url,
      origin: RecordIdentity.origin(of: record.source),
      priority: record.priority,
      order: order,
      isSuspect: record.unresolvedStarts > 0,
      runsAlone: record.unresolvedStarts > 1,
      startsImmediately: record.startsImmediately,
      volume: volume,
      missingBytes: record.missingBytes
    )
  }
}

extension DownloadRecord {
  /// The number of bytes that are not counted yet; `nil` if the size is unknown.
  var missingBytes: Int64? {
    expected.map { max(0, $0) - min(max(0, $0), max(0, received)) }
  }
}
