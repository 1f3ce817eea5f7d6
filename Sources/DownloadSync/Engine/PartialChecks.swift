internal import DownloadStore
internal import Foundation

/// The partial files that are read before their downloads continue, because another program has
/// changed them.
///
/// A few files are read at a time, and the others wait in the order of their starts. Such a download
/// has no slot and is not in the queue. Pure: the engine reads the files.
struct PartialChecks: Sendable {
  /// A file that is read, or waits for that.
  struct Entry: Sendable {
    /// The record, in the generation that the file belongs to.
    let key: TransferKey
    /// The place in the queue that the download had.
    let candidate: Scheduler.Candidate
    /// The path of the file.
    let path: String
    /// The identity of the file before it is read; `nil` if it cannot be examined.
    let identity: FileIdentity?
    /// Differs from those of earlier entries with the same URL.
    let number: Int
    /// How far the file was read; `nil` while it waits.
    fileprivate(set) var check: PieceCheck?
  }

  /// The number of files that are read at the same time.
  ///
  /// More of them would only compete for the disk. A small file does not wait for a single large one.
  static let limit = 2

  private var entries = URLTable<Entry>()
  private var readingCount = 0
  /// The URLs of the files that wait, in order, after the first ``takenCount`` ones.
  private var waiting: [String] = []
  private var takenCount = 0
  private var lastNumber = 0

  var isEmpty: Bool { entries.isEmpty }
  /// The URLs of all entries.
  var urls: [String] { entries.urls }

  subscript(_ url: String) -> Entry? { entries[url] }

  /// Whether the file of a record is read, or waits for that.
  func contains(_ record: DownloadRecord) -> Bool {
    entries[record.url]?.key.matches(record) ?? false
  }

  /// Adds a file, which waits; it replaces an entry with the same URL.
  mutating func insert(_ found: Reconciliation, _ candidate: Scheduler.Candidate) {
    remove(found.record.url)
    lastNumber += 1
    entries[found.record.url] = Entry(
      key: TransferKey(found.record),
      candidate: candidate,
      path: found.layout.partialPath,
      identity: found.partialIdentity,
      number: lastNumber
    )
    waiting.append(found.record.url)
  }

  /// Removes a file that was read to its end, or need not be read any more.
  ///
  /// - Returns: The removed entry; `nil` if there is none.
  @discardableResult
  mutating func remove(_ url: String) -> Entry? {
    guard let entry = entries[url] else { return nil }
    entries[url] = nil
    if entry.check != nil { readingCount -= 1 }
    return entry
  }

  /// The next file to read; `nil` if there is none, or as many are read as may be.
  ///
  /// The caller begins to read it with ``begin(_:with:)``.
  mutating func next() -> Entry? {
    guard readingCount < Self.limit else { return nil }
    while takenCount < waiting.count {
      let url = waiting[takenCount]
      takenCount += 1
      if takenCount == waiting.count { (waiting, takenCount) = ([], 0) }
      // A file that was removed does not wait, and one that was added again may have been read.
      if let entry = entries[url], entry.check == nil { return entry }
    }
    return nil
  }

  /// Notes that a file is read.
  ///
  /// - Returns: The first part; `nil` if there is nothing to read.
  mutating func begin(_ entry: Entry, with digests: PieceDigests?) -> PieceCheck.Part? {
    let check = PieceCheck(ofFileAt: entry.path, digests)
    entries[entry.key.url]?.check = check
    readingCount += 1
    return check.next
  }

  /// Notes what was found in a part of a file.
  ///
  /// - Parameters:
  ///   - result: What was found.
  ///   - url: The URL of the entry.
  ///   - number: The number of the entry for which the part was read.
  /// - Returns: The check; `nil` if the part belongs to an entry that was removed.
  mutating func note(
    _ result: Result<PieceReport, FileReadError>,
    of url: String,
    number: Int
  ) -> PieceCheck? {
    guard entries[url]?.number == number else { return nil }
    entries[url]?.check?.note(result)
    return entries[url]?.check
  }
}
