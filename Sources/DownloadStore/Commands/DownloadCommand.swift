package import ObjectStore

/// A command that the user gives to downloads.
///
/// Any process writes a command to the record as a new state or intent; the engine that runs the
/// transfers carries it out. A command may be given at any time, in any state and repeatedly.
/// ``TransitionTable`` defines its effect.
package enum DownloadCommand: Sendable, Hashable {
  /// Pauses the download; keeps the bytes on disk.
  case pause
  /// Resumes the download from the bytes on disk, and clears its failure count.
  ///
  /// With `immediately` it starts before all others. If no slot is free, it preempts the transfer
  /// that has run longest, which is then held until the user resumes it.
  case resume(immediately: Bool)
  /// Cancels the download: deletes the partial file, keeps the record.
  case cancel
  /// Restarts the download from the first byte.
  ///
  /// The finished file, if it is still the downloaded one, stays until the new one replaces it.
  case restart
  /// Asks the server whether it has a newer version of the finished file, and downloads that.
  ///
  /// The finished file stays until the newer one is complete and replaces it. No effect on a download
  /// that is not complete, or whose file was adopted.
  case refresh
  /// Removes the download: deletes the partial file and the record.
  ///
  /// With `withFile` it also deletes the finished file, if that is still the downloaded one.
  case remove(withFile: Bool)

  /// The states in which the command may have an effect.
  package var states: [DownloadState] {
    let kind = DownloadRecord.Event.command(self).kind
    return DownloadState.allCases.filter { state in
      DownloadIntent.allCases.contains { intent in
        TransitionTable.entry(for: kind, in: DownloadStatus(state, intent)) != .ignored
      }
    }
  }
}

/// The downloads that a command applies to.
///
/// ```swift
/// try await store.pause(.all)
/// try await store.resume(.matching("https://example.com/model.bin"), immediately: true)
/// try await store.cancel(.tagged("drafts"))
/// ```
public enum RecordSelection: Sendable, Hashable {
  /// The downloads with these URLs, keys, ids, unique id prefixes or unique file names.
  ///
  /// The URL of a mirror does not name a download.
  case matching([String])
  /// The downloads with a tag.
  case tagged(String)
  /// All downloads of the store.
  case all

  /// The download with a URL, a key, an id, a unique id prefix or a unique file name.
  public static func matching(_ name: String) -> Self { .matching([name]) }

  /// The downloads as names or a condition, which an index serves.
  var targets: CommandTargets {
    switch self {
    case .matching(let names): .named(names)
    case .tagged(let tag): .matching(DownloadRecord.columns.tags.contains(tag))
    case .all: .matching(.all)
    }
  }
}

/// The downloads that a command applies to: those with names, or those that match a condition.
package enum CommandTargets: Sendable {
  /// The downloads with these URLs, ids, unique id prefixes or unique file names.
  case named([String])
  /// The downloads that match a condition.
  case matching(Filter<DownloadRecord>)
}

/// The outcome of a command or an update for one download.
///
/// ```swift
/// for outcome in try await store.resume(.matching(["3f2a", "https://example.com/a.zip"])) {
///   switch outcome.effect {
///   case .done(let record): print("resumed", record.filename)
///   case .unchanged(let record): print(record.filename, "is already", record.state)
///   case .unknown(let error): print(outcome.name, error.message)
///   }
/// }
/// ```
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

  /// The URL, id, id prefix or file name that the caller gave; the record's URL if the selection named none.
  public var name: String
  /// The effect on the record.
  public var effect: Effect

  /// Creates an outcome.
  package init(name: String, effect: Effect) {
    self.name = name
    self.effect = effect
  }

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
