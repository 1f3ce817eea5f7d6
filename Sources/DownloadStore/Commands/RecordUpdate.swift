/// What is to be different about a record.
///
/// What is left out, or empty, stays as it is.
public struct RecordUpdate: Sendable, Hashable {
  /// The name of the finished file.
  public var filename: String?
  /// What kind of file it is, in the caller's words.
  public var type: String?
  /// Groups that it belongs to from now on.
  public var addedTags: Set<String> = []
  /// Groups that it belongs to no more; of a tag that is both added and removed it is rid.
  public var removedTags: Set<String> = []
  /// Higher goes first.
  public var priority: Int32?
  /// The URL, as when a signed one has expired; see ``DownloadStore/replaceURL(of:with:)``.
  public var url: String?

  /// Changes nothing yet.
  public init() {}

  /// Changes all but the name and the URL, which depend on files and on other records.
  func apply(to record: inout DownloadRecord) {
    if let filename, !filename.isEmpty { record.isNameGiven = true }
    if let type, !type.isEmpty { record.type = type }
    record.tags.formUnion(addedTags)
    record.tags.subtract(removedTags)
    if let priority { record.priority = priority }
  }

  /// The harmless form of the name that the file of `record` is to get; `nil` when it keeps its own.
  func newFilename(of record: DownloadRecord) -> String? {
    guard let filename, !filename.isEmpty else { return nil }
    let name = SafeFilename.sanitized(filename)
    return name == record.filename ? nil : name
  }

  /// The URL that `record` is to get; `nil` when it keeps its own.
  func newURL(of record: DownloadRecord) -> String? {
    // Bytes are compared: strings that look alike may be two URLs.
    guard let url, !url.utf8.elementsEqual(record.url.utf8) else { return nil }
    return url
  }
}
