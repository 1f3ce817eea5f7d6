public import DownloadStore

/// The limits and policies of an engine.
///
/// ```swift
/// var options = EngineOptions(maximumRunning: 8, maximumPerHost: 2)
/// options.retry.maximumAttempts = 3
/// ```
public struct EngineOptions: Sendable {
  /// How the previous engine of the store ended, as far as the caller knows.
  ///
  /// ```swift
  /// var options = EngineOptions()
  /// let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGSEGV]
  /// if child.terminationReason == .uncaughtSignal, crashes.contains(child.terminationStatus) {
  ///   options.previousExit = .crashed
  /// }
  /// ```
  public enum PreviousExit: Sendable, Hashable {
    /// It stopped, was killed, or lost power: no transfer is suspected.
    case clean
    /// The process crashed: the downloads that were being transferred are crash suspects.
    case crashed
  }

  /// The limits of concurrent downloads, in total and per host.
  public var limits: ConcurrencyLimits
  /// Whether a file is downloaded over several connections at once; by default over up to four.
  public var split = SplitOptions()
  /// Whether and when failed downloads are retried.
  public var retry = RetryPolicy()
  /// The speed below which a transfer gives its slot up to a download that waits for one.
  ///
  /// In bytes per second; zero for never. 1 KiB per second by default.
  ///
  /// This is no failed attempt: the download continues from its bytes when no other one waits. A
  /// transfer that could not be continued keeps its slot once it has more than 256 KiB.
  public var lowestSpeed: Int64 = 1_024
  /// The time over which the speed is measured for ``lowestSpeed``.
  public var lowestSpeedTime = Duration.seconds(30)
  /// The longest time between two checkpoints of a download that makes progress.
  ///
  /// A crash or power failure loses at most the bytes received since the last checkpoint.
  public var checkpointInterval = Duration.seconds(1)
  /// The number of unsynced bytes that causes an early checkpoint; 32 MiB by default.
  package var checkpointBytes: Int64 = 32 << 20
  /// The size of the largest file that is downloaded, in bytes; `nil` for no limit.
  ///
  /// A larger file fails permanently with `tooLarge`: before the first byte of its body if the server
  /// declares the size, otherwise before the first byte beyond the limit is written. The bytes on disk
  /// stay, as after any failure: an engine with a higher limit continues them. A finished file stays
  /// what it is; a refresh to a larger version fails and keeps it.
  ///
  /// A `BackgroundTransport` delivers a file whose size is not declared at its end, and it is refused
  /// then.
  public var maximumFileSize: Int64?
  /// What is done with the space on disk when the size of a file is known.
  public var preallocation = Preallocation.none
  /// The number of crashes after which a crash suspect fails permanently with `quarantined`.
  ///
  /// A crash suspect is a download that was being transferred when the process crashed. Progress does
  /// not clear it; completion and the commands of the user do. Suspects start one at a time, so that
  /// another crash identifies its cause: a download is given up only if the last crash happened while
  /// it ran alone, or after four times as many crashes beside others.
  package var maximumUnresolvedStarts: Int32 = 3
  /// The probation of a crash suspect: how long nothing starts beside it.
  ///
  /// After one crash it also ends with the first progress. After two the download runs alone for the
  /// whole probation, also if running transfers have to wait for that, and each further crash doubles
  /// it.
  package var probation = Duration.seconds(5)
  /// Whether to continue from bytes on disk if neither a validator nor a digest can show that they
  /// belong to the server's file.
  ///
  /// If `true`, the size must be the same, and the date that the server states for its file must not be
  /// later than the last write. A file that has changed nevertheless becomes a mixture of both versions. If
  /// `false`, such a download restarts from the first byte.
  public var continuesUnvalidated = false
  /// The source of a file name that the user has not chosen.
  public var naming = FileNaming.fromResponse
  /// Whether finished files get the time of the server (`Last-Modified`) as their modification time;
  /// by default they have that of their last byte.
  ///
  /// Without effect if the server states no time, one before 1970 or one in the future, and on a file
  /// system that refuses it. The identity of the finished file in its record has the time that the
  /// file got, so that the engine and the commands recognize it.
  ///
  /// ```swift
  /// options.setsServerTime = true
  /// ```
  public var setsServerTime = false
  /// The interceptors that receive each request before it is sent; they run in ascending priority.
  public var requestInterceptors: [any RequestInterceptor] = []
  /// The interceptors that are notified of each end, in ascending priority.
  public var responseInterceptors: [any ResponseInterceptor] = []
  /// The longest time that an interceptor may take for one request or response.
  public var interceptorDeadline = Duration.seconds(30)
  /// Supplies the credentials of requests, also when a server refuses old ones; `nil` for none.
  public var authorizer: (any RequestAuthorizer)?
  /// The checks that each response must pass before a byte of its body is kept.
  ///
  /// Called in their order for the response to each connection of a file and to each attempt, if the
  /// engine would keep its body: not for an error status. A check that throws refuses the response: the
  /// bytes that are already on disk stay, and the attempt fails. The code of a `DownloadFailure` decides
  /// whether it is retried, also from a mirror. Any other error fails the download permanently with
  /// `interceptorFailed`.
  ///
  /// ```swift
  /// struct LoginRequired: Error {}
  ///
  /// options.responseChecks = [
  ///   { head, record in
  ///     let isPage = head["Content-Type"]?.hasPrefix("text/html") ?? false
  ///     if isPage, !record.filename.hasSuffix(".html") { throw LoginRequired() }
  ///   }
  /// ]
  /// ```
  ///
  /// A check is called on a thread of the transport, and must not block.
  public var responseChecks: [ResponseCheck] = []
  /// How long to wait for the engine lock, which a killed process may still hold.
  ///
  /// If the holder is known to be terminating, the engine waits for up to ten seconds. Zero tries
  /// once.
  public var lockPatience = Duration.seconds(1)
  /// How the previous engine ended.
  public var previousExit = PreviousExit.clean
  /// The time between two checks of the free space on a full disk.
  package var diskSpaceInterval = Duration.seconds(5)
  /// The hooks whose downloads are marked when they end.
  ///
  /// The mark is `DownloadRecord.pendingHooks`, committed together with the end. The engine runs no
  /// command itself: read the marks with `RecordStore.records(awaiting:limit:)`, and clear each with
  /// `RecordStore.finishHook(_:of:)`. Without hooks no marks accumulate.
  public var hooks: Set<DownloadHook> = []

  /// Whether the engine of another process may run the downloads for which this process waits.
  ///
  /// Set it to `false` if only this process can reach the servers, for example because its transport has
  /// a proxy or a client certificate. See ``SharedDownloads``.
  public var sharesDownloads = true

  /// What is done for a download that requires the digest of a finished file of the store.
  public var equalFiles = EqualFiles.copy

  /// Whether the digest of a finished file is computed before its first byte is copied.
  ///
  /// For a reader of the bytes while they arrive: it cannot give back wrong ones. Costs one more read of
  /// the file.
  package var checksEqualFiles = false

  /// The URLs of the downloads to run; `nil` for all downloads of the store.
  ///
  /// A run also includes the downloads for which other processes wait; see ``JoinedDownloads``. Only
  /// the downloads of the scope count in the summary, and have their hooks marked.
  package var scope: URLSet?
  /// Whether a run with a ``scope`` requests the refreshes of its downloads that are due at its start.
  package var refreshesScope = false
  /// The shortest length of the pieces whose digests are recorded, in bytes.
  package var pieceLength = PieceDigests.recordedLength
  /// How many waiting downloads are kept in memory; ignored if ``scope`` limits the run.
  package var queueBounds = QueueBounds()

  /// Creates options with limits and default policies.
  ///
  /// - Parameters:
  ///   - maximumRunning: The number of downloads that may run at a time.
  ///   - maximumPerHost: The number of downloads from one host that may run at a time.
  public init(maximumRunning: Int = 4, maximumPerHost: Int = 4) {
    limits = ConcurrencyLimits(maximumRunning: maximumRunning, maximumPerHost: maximumPerHost)
  }
}

extension EngineOptions {
  /// Whether the caller has asked for a download; another process may wait for it, too.
  func isOwn(_ url: String) -> Bool { scope?.contains(url) ?? true }

  /// The hooks that the end of a download marks: none if only another process waits for it.
  func hooks(of url: String) -> Set<DownloadHook> { isOwn(url) ? hooks : [] }
}

/// The condition that ends a run.
///
/// ```swift
/// try await engine.run(until: .finished(.tagged("models")))
/// ```
public enum RunGoal: Sendable, Hashable {
  /// The run ends when ``DownloadEngine/stop()`` is called or its task is cancelled.
  case stopped
  /// The run also ends when nothing is left to do.
  ///
  /// All downloads are then complete, failed permanently, paused or held, or they wait for free
  /// space on a full disk; see ``DownloadEngine/run(until:)``.
  case idle
  /// The run also ends when some downloads have ended, or when nothing is left to do.
  ///
  /// Each of them is then complete, failed permanently, cancelled, paused or held, or does not exist
  /// any more. The selection is the one at the start of the run. The engine runs the other downloads
  /// of the store, too, and stops them at the end: they keep their bytes.
  case finished(RecordSelection)
}

/// The results of a run.
///
/// ```swift
/// let summary = try await engine.run(until: .idle)
/// print(summary.completed, "completed,", summary.failed, "failed")
/// ```
public struct RunSummary: Sendable, Hashable {
  /// The number of downloads that were completed.
  public var completed = 0
  /// The number of downloads that failed permanently.
  public var failed = 0
  /// The number of finished downloads of which the server had no newer version.
  package var unchanged = 0
  /// The number of completed downloads whose bytes were copied from finished files, and not requested.
  package var copied = 0

  /// Creates a summary.
  package init(completed: Int = 0, failed: Int = 0, unchanged: Int = 0, copied: Int = 0) {
    self.completed = completed
    self.failed = failed
    self.unchanged = unchanged
    self.copied = copied
  }
}
