package import DownloadReports
package import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// A command for some downloads.
package struct APIAction: Sendable {
  /// The commands, by the names that the command line has.
  package enum Kind: String, CaseIterable, Sendable {
    case pause, resume, start, retry, cancel, restart, remove
  }

  /// The downloads that a command is for.
  package enum Selection: Sendable {
    /// Those with ids, URLs, keys or file names.
    case names([String])
    /// Those that match a filter.
    case filter(DownloadFilter)
  }

  /// The command.
  package var kind: Kind
  package var selection = Selection.names([])
  /// Whether `remove` also deletes the finished file.
  package var withFile = false
  /// Whether nothing is changed.
  package var isPreview = false

  /// Creates a command for no download.
  package init(_ kind: Kind) { self.kind = kind }

  private var command: DownloadCommand {
    switch kind {
    case .pause: .pause
    case .resume, .retry: .resume(immediately: false)
    case .start: .resume(immediately: true)
    case .cancel: .cancel
    case .restart: .restart
    case .remove: .remove(withFile: withFile)
    }
  }

  /// The states in which a download may be changed; `nil` for all.
  private var states: [DownloadState]? {
    kind == .retry ? [.failedPermanent, .failedRetryable] : nil
  }

  /// Applies the command in one transaction, on the calling thread.
  ///
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  package func apply(to store: RecordStore) throws -> [CommandOutcome] {
    let targets: CommandTargets =
      switch selection {
      case .names(let names): .named(names)
      case .filter(let filter): .matching(filter.condition(engineRuns: store.hasEngine))
      }
    return isPreview
      ? try store.preview(command, of: targets, among: states)
      : try store.apply(command, to: targets, among: states)
  }

  /// Deletes the files of cancelled and removed downloads, or waits for the engine that runs to do it.
  ///
  /// - Parameters:
  ///   - outcomes: The outcomes of the command.
  ///   - store: The store.
  ///   - patience: How long to wait for an engine.
  /// - Throws: As `RecordStore.deleteFiles(of:patience:)`.
  package func carryOut(
    _ outcomes: [CommandOutcome],
    in store: RecordStore,
    patience: Duration = .seconds(2)
  ) async throws {
    guard !isPreview, kind == .cancel || kind == .remove else { return }
    let urls = outcomes.compactMap(\.record).filter(\.isToBeDeleted).map(\.url)
    _ = try await store.deleteFiles(of: urls, patience: patience)
  }
}
