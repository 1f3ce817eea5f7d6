/// The outcome of a command or an update for one download.
public struct CommandOutcome: Sendable {
  /// The effect on the record.
  public enum Effect: Sendable {
    /// The record has changed, and is now this one.
    case done(DownloadRecord)
    /// There was nothing to change; the record is still this one.
    case unchanged(DownloadRecord)
    /// No download has the name (`unknownRecord`), or several have (`ambiguousID`).
    ///
    /// A download that is being removed counts as unknown, except to
    /// ``RecordStore/remove(_:withFile:)``.
    case unknown(RecordStoreError)
  }

  /// The URL, id or id prefix that the caller gave; the record's URL if the selection named none.
  public var name: String
  /// The effect on the record.
  public var effect: Effect

  /// The record after the command; `nil` if no single record has the name.
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
