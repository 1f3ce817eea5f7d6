internal import DownloadStore
internal import Foundation

extension DownloadRecord {
  /// Puts a failure into the ring of attempts.
  mutating func note(_ failure: DownloadFailure, url: String, at moment: Date) {
    attempts.append(Attempt(at: moment, url: url, failure: failure, received: received))
    if attempts.count > Attempt.limit { attempts.removeFirst(attempts.count - Attempt.limit) }
    updatedAt = moment
  }

  /// The file is under its name.
  mutating func complete(at moment: Date) {
    state = .completed
    completedAt = moment
    updatedAt = moment
    failedAttempts = 0
    unresolvedStarts = 0
    nextRetryAt = nil
    resumeData = nil
    isHeld = false
    startsImmediately = false
    replacedFileIdentity = nil
  }

  /// Makes the record wait for its next attempt, or stay paused while the user holds it.
  ///
  /// A record whose rename is logged is held without being paused: the rename needs no network. Once
  /// that has come to nothing, the next attempt does.
  mutating func awaitAttempt() {
    state = intent == .pause ? .paused : .waiting
  }

  /// What is on disk is dropped.
  mutating func rollBack() {
    received = 0
    expected = nil
    entityTag = nil
    lastModified = nil
  }

  /// More bytes are synced.
  mutating func checkpoint(_ synced: Int64, _ entity: Transfer.Entity, at moment: Date) {
    // More than there ever was: a server may change the entity, and so take back what there is, with
    // every response, and its failures must not be forgotten each time.
    if synced > resolvedBytes {
      failedAttempts = 0
      resolvedBytes = synced
      unresolvedStarts = 0
    }
    received = max(received, synced)
    expected = entity.total
    entityTag = entity.entityTag
    lastModified = entity.lastModified
    updatedAt = moment
  }

  /// The URL that the next attempt asks.
  package var source: String { SourceRotation(of: self).next }
}

extension DownloadFailure {
  /// The failure as it is to be told of a download with bytes on disk: a server that refuses what it
  /// gave before has a link that expired.
  func afterProgress(of record: DownloadRecord) -> Self {
    guard code == .refused, record.received > 0 else { return self }
    return Self(
      .needsURL,
      "\(message); it was given before, so the link may have expired: a new one goes on after "
        + "\(record.received) bytes"
    )
  }
}
