#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension DownloadRecord {
  /// Something that happens to a download, with what its record stores about it.
  ///
  /// ``apply(_:at:)`` is the only way to change the state or the intent of a record.
  package enum Event: Sendable {
    // MARK: Commands

    /// The user gives a command.
    case command(DownloadCommand)
    /// The user adds a URL that the store already knows; has no effect on a completed download.
    case addedAgain
    /// The URL is replaced; the download continues from the bytes on disk, under a new generation.
    case moved(to: String)
    /// The record comes from a file; `keepingBytes` if its bytes are those of the partial file in the
    /// store.
    case imported(keepingBytes: Bool)

    // MARK: Transfers

    /// An attempt starts under a new generation; `keepingBytes` if it continues the bytes on disk.
    /// A refresh becomes a restart if `lacksEarlierVersion`: its finished file is gone, or is another
    /// one by now. `replacing` is the file with the name, if the download replaces it.
    case started(
      keepingBytes: Bool,
      lacksEarlierVersion: Bool = false,
      replacing: FileIdentity? = nil
    )
    /// A task that a system session kept running across processes is the record's transfer again.
    ///
    /// The task has used up its resume data. It runs in a process of the system, which it cannot
    /// crash with ours, so it is not counted as a crash suspect. `entityTag` and `lastModified` are
    /// those of the bytes that the resume data continues, which a record without bytes of its own
    /// keeps; `nil` if there are none.
    case taskAdopted(entityTag: String? = nil, lastModified: String? = nil)
    /// The transfer of this generation is still running, after a command was withdrawn.
    case transferContinued
    /// The engine has ended the transfer: another download preempts it (`isHeld`), a volume is full,
    /// or the engine stops. The task may have left resume data.
    case interrupted(isHeld: Bool = false, resumeData: Data? = nil)
    /// An attempt has failed.
    case attemptFailed(FailedAttempt)
    /// An attempt has ended because this machine lacks disk space, descriptors or memory; it does not
    /// count. The failure is listed among the attempts, once per wait; `nil` for none.
    case attemptDeferred(noting: DownloadFailure? = nil, from: String)
    /// No task works for the download any more, or has since the last process.
    case unattended(UnattendedRecord)
    /// The file that a logged rename needs is not the one that was checked.
    case fileLost
    /// The transfer or the rename of a paused download has ended.
    case pauseCarriedOut
    /// The files of a cancelled download are deleted. `named` is the version that has the name, once a
    /// newer one is complete: the cancel comes too late for one that has it, which is kept with the hooks
    /// and the previous versions of a completion.
    case cancellationCarriedOut(
      named: NamedVersion? = nil,
      marking: Set<DownloadHook> = [],
      keeping: [KeptVersion]? = nil
    )

    // MARK: Files

    /// The server has no newer version of the finished file.
    case notModified
    /// The complete, synced partial file is about to get its name.
    case fileComplete(CompleteFile)
    /// The file has its name. Of the hooks, only those of a completion are marked as pending. `keeping` are
    /// the previous versions beside it; `nil` if these have not changed.
    case completed(marking: Set<DownloadHook> = [], keeping: [KeptVersion]? = nil)
    /// An existing file is the finished one, unread. It stays the user's: no command deletes or
    /// replaces it.
    case fileAdopted(FileIdentity)
    /// The finished file is missing, was changed, or is not the one that is required from now on:
    /// the download starts from the first byte. `nil` for the digest required before.
    case fileRejected(requiring: Digest?)
    /// The finished file has damaged bytes; the partial file has the others.
    case fileDamaged(DamagedFile)
  }

  /// The version of a refreshed download that has its name, once a newer one is complete.
  package enum NamedVersion: Sendable, Hashable {
    /// The finished file, to which the record can still return.
    case earlier
    /// The newer version, which has replaced it.
    case newer
  }

  /// A failed attempt.
  package struct FailedAttempt: Sendable {
    /// Why the attempt failed.
    package var failure: DownloadFailure
    /// The URL that was requested.
    package var source: String
    /// Whether the bytes on disk are useless, so that the next attempt starts from the first byte.
    package var dropsBytes: Bool
    /// The hooks to mark as pending if the download fails permanently.
    package var hooks: Set<DownloadHook>
    /// The version that has the name, once a newer one is complete; `nil` otherwise.
    package var named: NamedVersion?
    /// The wait before the next attempt, given the record with the failure; `nil` to give up.
    ///
    /// The only place that knows the limits of retries.
    package var wait: @Sendable (DownloadRecord) -> Duration?

    /// Creates a failed attempt.
    package init(
      _ failure: DownloadFailure,
      from source: String,
      droppingBytes dropsBytes: Bool = false,
      marking hooks: Set<DownloadHook> = [],
      named: NamedVersion? = nil,
      retryingAfter wait: @escaping @Sendable (DownloadRecord) -> Duration?
    ) {
      self.failure = failure
      self.source = source
      self.dropsBytes = dropsBytes
      self.hooks = hooks
      self.named = named
      self.wait = wait
    }
  }

  /// What is known about a record without a task.
  package struct UnattendedRecord: Sendable {
    /// Whether the process crashed, and which downloads it was transferring.
    package var crash: CrashScope
    /// The number of crashes after which a download that ran alone in the last one fails permanently.
    ///
    /// Beside others it does after four times as many: a limit for a cause that never shows while
    /// its download runs alone.
    package var maximumCrashes: Int32
    /// The URL that was requested.
    package var source: String
    /// Whether the next attempt may start now; if not, a scheduled retry stays scheduled.
    package var isDue: Bool
    /// The hooks to mark as pending if the record is given up.
    package var hooks: Set<DownloadHook>

    /// Creates the facts about a record.
    package init(
      after crash: CrashScope,
      maximumCrashes: Int32,
      source: String,
      isDue: Bool = true,
      marking hooks: Set<DownloadHook> = []
    ) {
      self.crash = crash
      self.maximumCrashes = maximumCrashes
      self.source = source
      self.isDue = isDue
      self.hooks = hooks
    }
  }

  /// A complete file, and the entity that it is.
  package struct CompleteFile: Sendable {
    /// The identity of the file, committed before it gets its name: after a kill it tells whether the
    /// rename has happened.
    package var identity: FileIdentity
    /// The entity tag of its bytes.
    package var entityTag: String?
    /// The `Last-Modified` field of its bytes.
    package var lastModified: String?
    /// The origin that stated them; `nil` for that of the URL.
    package var validatorOrigin: String?
    /// The digest of the file; `nil` if it was not computed.
    package var verifiedDigest: String?

    /// Creates the facts about a complete file.
    package init(
      _ identity: FileIdentity,
      entityTag: String? = nil,
      lastModified: String? = nil,
      validatorOrigin: String? = nil,
      verifiedDigest: String? = nil
    ) {
      self.identity = identity
      self.entityTag = entityTag
      self.lastModified = lastModified
      self.validatorOrigin = validatorOrigin
      self.verifiedDigest = verifiedDigest
    }
  }

  /// A finished file with damaged bytes.
  package struct DamagedFile: Sendable {
    /// The bytes of the partial file, which are synced.
    package var kept: ByteRanges
    /// The identity of the finished file, which stays until the repaired one replaces it.
    package var replaced: FileIdentity?
    /// The identity of the partial file.
    package var partial: FileIdentity?

    /// Creates the facts about a damaged file.
    package init(
      keeping kept: ByteRanges,
      replacing replaced: FileIdentity?,
      partial: FileIdentity?
    ) {
      self.kept = kept
      self.replaced = replaced
      self.partial = partial
    }
  }
}

extension DownloadRecord.Event {
  /// The events as the table distinguishes them: those of a failed attempt by what follows.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case pause
    case resume
    case cancel
    case restart
    case refresh
    case remove
    case addedAgain = "added again"
    case moved
    case imported
    case started
    case taskAdopted = "task adopted"
    case transferContinued = "transfer continued"
    case interrupted
    /// An attempt failed, and the next one is scheduled.
    case attemptFailed = "attempt failed"
    /// An attempt failed, and the next one starts from the first byte without a wait.
    case attemptRestarted = "attempt restarted"
    case attemptDeferred = "attempt deferred"
    /// An attempt failed, and none follows.
    case failed
    case unattended
    /// No task works for a download whose retry is not due.
    case retryPending = "retry pending"
    /// The process crashed each time while the download was transferred.
    case quarantined
    case fileLost = "file lost"
    case pauseCarriedOut = "pause carried out"
    case cancellationCarriedOut = "cancellation carried out"
    /// The finished file is not one that a refresh may replace.
    case refreshRefused = "refresh refused"
    /// The bytes of a newer version are deleted after a cancel; the finished file stays.
    case refreshCancelled = "refresh cancelled"
    /// An attempt of a refresh failed, and none follows; the finished file stays.
    case refreshFailed = "refresh failed"
    case notModified = "not modified"
    case fileComplete = "file complete"
    case completed
    case fileAdopted = "file adopted"
    case fileRejected = "file rejected"
    case fileDamaged = "file damaged"

    /// Whether the event is a command of the user, which is accepted in every state.
    package var isCommand: Bool {
      switch self {
      case .pause, .resume, .cancel, .restart, .refresh, .remove, .addedAgain, .refreshRefused: true
      default: false
      }
    }
  }

  /// The kind of the event, unless the record decides about it: a failed attempt counts as one that
  /// is repeated, and an unattended download as one that may start.
  package var kind: Kind {
    switch self {
    case .command(.pause): .pause
    case .command(.resume): .resume
    case .command(.cancel): .cancel
    case .command(.restart): .restart
    case .command(.refresh): .refresh
    case .command(.remove): .remove
    case .addedAgain: .addedAgain
    case .moved: .moved
    case .imported: .imported
    case .started: .started
    case .taskAdopted: .taskAdopted
    case .transferContinued: .transferContinued
    case .interrupted: .interrupted
    case .attemptFailed: .attemptFailed
    case .attemptDeferred: .attemptDeferred
    case .unattended(let record): record.isDue ? .unattended : .retryPending
    case .fileLost: .fileLost
    case .pauseCarriedOut: .pauseCarriedOut
    case .cancellationCarriedOut: .cancellationCarriedOut
    case .notModified: .notModified
    case .fileComplete: .fileComplete
    case .completed: .completed
    case .fileAdopted: .fileAdopted
    case .fileRejected: .fileRejected
    case .fileDamaged: .fileDamaged
    }
  }
}
