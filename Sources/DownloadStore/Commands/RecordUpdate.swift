#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Changes to a record.
///
/// A property that is `nil` or empty leaves the record's value unchanged.
///
/// ```swift
/// var update = RecordUpdate()
/// update.filename = "model-v2.bin"
/// update.addedTags = ["models"]
/// try await store.update(matching: "https://example.com/model.bin", with: update)
/// ```
public struct RecordUpdate: Sendable, Hashable {
  /// The new name of the finished file.
  ///
  /// Characters that are unsafe in a file name are replaced.
  public var filename: String?
  /// The new type, a label of the caller's choice.
  public var type: String?
  /// The tags to add, each of at most 256 bytes.
  public var addedTags: Set<String> = []
  /// The tags to remove; a tag that is also in ``addedTags`` is removed.
  public var removedTags: Set<String> = []
  /// The new priority; higher starts first.
  public var priority: Int32?
  /// The new rate limit in bytes per second, above zero; `.some(nil)` removes the limit.
  ///
  /// Applies immediately to a transfer that is running.
  public var bytesPerSecond: Int64??
  /// The new number of connections, above zero; `.some(nil)` for the engine's limit.
  ///
  /// Applies immediately to a transfer that is running.
  public var connections: Int32??
  /// The new time before which the engine does not start the download; `.some(nil)` for any time.
  ///
  /// A download that is running continues.
  public var notBefore: Date??
  /// The new time between two refreshes, from a minute to a year, of which whole seconds count;
  /// `.some(nil)` for refreshes on command only.
  ///
  /// See ``DownloadRequest/refreshEvery``.
  public var refreshEvery: Duration??
  /// The new number of previous versions of the finished file that are kept, from 1 to 100;
  /// `.some(nil)` to keep no more.
  ///
  /// Kept versions stay until another one is added. See ``DownloadRequest/keepVersions``.
  public var keepVersions: Int32??
  /// The new mirrors, at most 100, which replace all others; empty for none.
  ///
  /// The URL of the download is left out.
  public var mirrors: [String]?
  /// The new URL; see ``RecordStore/replaceURL(matching:with:)``.
  public var url: String?

  /// Creates an update without changes.
  public init() {}

  /// Throws unless an import accepts the values that the update stores.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidRecord`, `invalidTag` or `invalidURL`.
  func validate() throws(RecordStoreError) {
    for mirror in mirrors ?? [] { try RecordIdentity.validate(mirror) }
    try RecordLimits.requireMirrors(mirrors ?? [])
    guard RecordLimits.isRate(bytesPerSecond ?? nil),
      RecordLimits.isConnectionCount(connections ?? nil)
    else {
      throw RecordStoreError(
        .invalidRecord,
        "a rate limit or a number of connections is not above zero"
      )
    }
    try (refreshEvery ?? nil)?.validateAsRefreshPeriod()
    try RecordLimits.requireVersionCount(keepVersions ?? nil)
    try RecordLimits.requireTags(addedTags)
    guard (notBefore ?? nil).map(RecordLimits.isDate) ?? true else {
      throw RecordStoreError(.invalidRecord, "the earliest start is not in the years 1 to 9999")
    }
  }

  /// Applies all changes except the name and the URL, which depend on files and on other records.
  func apply(to record: inout DownloadRecord) {
    if let filename, !filename.isEmpty { record.isNameGiven = true }
    if let type, !type.isEmpty { record.type = type }
    record.tags.formUnion(addedTags)
    record.tags.subtract(removedTags)
    if let priority { record.priority = priority }
    if let bytesPerSecond { record.bytesPerSecond = bytesPerSecond }
    if let connections { record.connections = connections }
    if let notBefore { record.postpone(until: notBefore) }
    if let keepVersions { record.keepVersions = keepVersions }
    if let refreshEvery { record.refresh(every: refreshEvery?.components.seconds) }
    if let mirrors {
      var known: Set = [StoredText(newURL(of: record) ?? record.url)]
      record.mirrors = mirrors.filter { known.insert(StoredText($0)).inserted }
    }
  }

  /// The sanitized new file name of `record`; `nil` if the name does not change.
  func newFilename(of record: DownloadRecord) -> String? {
    guard let filename, !filename.isEmpty else { return nil }
    let name = SafeFilename.sanitized(filename)
    return name.utf8.elementsEqual(record.filename.utf8) ? nil : name
  }

  /// The new URL of `record`; `nil` if the URL does not change.
  func newURL(of record: DownloadRecord) -> String? {
    // Compares bytes: canonically equivalent strings may be different URLs.
    guard let url, !url.utf8.elementsEqual(record.url.utf8) else { return nil }
    return url
  }
}
