/// What became of a wish for one download.
public struct CommandOutcome: Sendable {
  /// What became of it.
  public enum Effect: Sendable {
    /// The record has changed.
    case done(DownloadRecord)
    /// There was nothing to change.
    case unchanged(DownloadRecord)
    /// There is no such download, or the name fits several.
    case unknown(DownloadStoreError)
  }

  /// The URL, id or beginning of one that was given; the URL where a tag or everything was.
  public var name: String
  /// What became of it.
  public var effect: Effect

  /// The record as it is then; `nil` when it is not known.
  public var record: DownloadRecord? {
    switch effect {
    case .done(let record), .unchanged(let record): record
    case .unknown: nil
    }
  }

  /// Whether the record has changed.
  public var isDone: Bool {
    if case .done = effect { true } else { false }
  }
}
