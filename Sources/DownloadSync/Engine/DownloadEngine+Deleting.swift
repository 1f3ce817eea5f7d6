internal import DownloadStore
internal import Logging
internal import ObjectStore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension DownloadEngine {
  /// Why a decision was not committed, though it was carried out as far as possible.
  enum Withheld: Sendable {
    /// Another process is using the partial file that is to go.
    case partialInUse
    /// The folder of a deleted file could not be synced.
    case unsynced(PartialFile.Failure)
  }

  /// Makes the deletion of files outlast a power cut.
  ///
  /// Where that fails the records stay, and ``retryDeletions()`` tries again. A folder that is gone
  /// has no names that could come back.
  ///
  /// - Returns: The failures, by the ids of the records.
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
      // A record that only lacks its last commit has attempts, and fails like any other.
      guard !found.decision.commitsCompleted else { continue }
      log("deletion not synced", found.record, ["error": "\(failure)"])
      deletions.noteFailure(
        of: found.record.url,
        at: environment.instant(),
        options.retry
      )
    }
    return withheld
  }

  /// Tries again to make deletions last whose folders could not be synced, where the wait is over.
  func retryDeletions() async throws {
    let urls = deletions.due(at: environment.instant())
    guard !urls.isEmpty else { return }
    let records = try await store.objects.read { tx in
      try urls.compactMap { try tx.get(DownloadRecord.self, $0) }
    }
    var due: [DownloadRecord] = []
    for url in urls {
      let record = records.first { $0.url.utf8.elementsEqual(url.utf8) }
      if let record, record.isToBeDeleted {
        due.append(record)
      } else {
        // Another process has purged the record, or wants the download again.
        deletions.remove(url)
      }
    }
    try await applyChanges(due, gone: [])
  }
}
