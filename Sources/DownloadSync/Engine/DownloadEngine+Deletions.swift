internal import DownloadStore
internal import Logging
internal import ObjectStore
internal import SystemInterface

extension DownloadEngine {
  /// The reason why a decision was not committed.
  enum Withheld: Sendable {
    /// Another process is using the partial file that the decision deletes.
    case partialInUse
    /// The folder of a deleted file could not be synced.
    case unsynced(PartialFile.Failure)
  }

  /// Syncs the folders of deleted files, so that the deletions survive a power failure.
  ///
  /// Returns the failures by record id. If a folder cannot be synced, its records stay, and
  /// ``retryDeletions()`` tries again. If the folder itself is gone, no deleted file can reappear.
  func synchronizeDeletions(
    of cleared: [Reconciliation]
  ) async throws -> [String: PartialFile.Failure] {
    let failures = try await synchronizeFolders(of: cleared.map(\.layout))
      .filter { $0.value.code != ENOENT && $0.value.code != ENOTDIR }
    var withheld: [String: PartialFile.Failure] = [:]
    for found in cleared {
      guard let failure = failures[found.layout.folderPath] else {
        deletions.remove(found.record.url)
        continue
      }
      withheld[found.record.id] = failure
      // A completion fails like any other attempt, and has the same limit of retries.
      guard !found.effects.completes else { continue }
      log("deletion not synced", found.record, ["error": "\(failure)"])
      deletions.noteFailure(
        of: found.record.url,
        at: environment.instant(),
        options.retry
      )
    }
    return withheld
  }

  /// Deletes the partial file of a record, unless its path leads out of the root.
  ///
  /// Every stored name was validated; damage or another program may have changed it since.
  @discardableResult
  func removePartial(_ layout: FileLayout) -> FilePlacement.Removal {
    layout.isBelowRoot ? placement.removePartial(layout.partialPath) : .missing
  }

  /// Retries the deletions whose folder could not be synced and whose wait is over.
  func retryDeletions() async throws {
    let urls = deletions.due(at: environment.instant())
    guard !urls.isEmpty else { return }
    let records = try await store.objects.read { tx in
      try urls.compactMap { try tx.find(DownloadRecord.self, key: $0) }
    }
    var due: [DownloadRecord] = []
    for url in urls {
      let record = records.first { $0.url.utf8.elementsEqual(url.utf8) }
      if let record, record.isToBeDeleted {
        due.append(record)
      } else {
        // Another process has purged the record, or has requested the download again.
        deletions.remove(url)
      }
    }
    try await applyChanges(due, gone: [])
  }
}
