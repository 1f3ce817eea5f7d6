public import DownloadStore
public import ObjectStore

/// What people want of downloads, in the words of the command line.
///
/// Each verb writes to the store and returns when that is durable; the engine that runs, be it this
/// one or one of another process, is woken by the commit and acts within milliseconds
/// (`docs/performance.md`). So they may be used before the run, beside it, and after it. The work is
/// done off the actor.
extension DownloadEngine {
  /// Has tasks go on that the system has let fall silent; to be called when an application comes to
  /// the front.
  ///
  /// Does something over a ``BackgroundTransport`` alone.
  public nonisolated func wakeTasks() {
    (transport as? any BackgroundTransport)?.wake()
  }

  /// Stores what is asked for, all of it or nothing; a known URL goes on.
  ///
  /// - Throws: As `DownloadStore.add(_:)`.
  @discardableResult
  public nonisolated func add(_ requests: [DownloadRequest]) async throws -> [DownloadStore.Added] {
    try await environment.blocking { [store] in try store.add(requests) }
  }

  /// Stores what is asked for and waits until it is complete; the engine must run meanwhile.
  ///
  /// One that is paused is waited for until somebody resumes it.
  ///
  /// - Returns: The record, and where its file is.
  /// - Throws: As ``download(_:)`` and `DownloadHandle.value()`.
  public nonisolated func get(_ request: DownloadRequest) async throws -> FinishedDownload {
    try await environment.blocking { [self] in try download(request) }.value()
  }

  /// Has downloads stand still, and keep what there is.
  ///
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func pause(_ selection: RecordSelection) async throws -> [CommandOutcome] {
    try await apply(.pause, to: selection)
  }

  /// Has downloads go on with what there is, their failures forgotten.
  ///
  /// - Parameters:
  ///   - selection: Which.
  ///   - immediately: Whether they start before all others, in the place of the one that has run longest
  ///     where no slot is free; that one then waits until somebody resumes it.
  /// - Returns: What became of each.
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func resume(
    _ selection: RecordSelection,
    immediately: Bool = false
  ) async throws -> [CommandOutcome] {
    try await apply(.resume(immediately: immediately), to: selection)
  }

  /// Gives downloads up: what is downloaded goes, the records stay.
  ///
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func cancel(_ selection: RecordSelection) async throws -> [CommandOutcome] {
    try await apply(.cancel, to: selection)
  }

  /// Has downloads begin from nothing; a finished file stays until the new one takes its place.
  ///
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func restart(_ selection: RecordSelection) async throws -> [CommandOutcome] {
    try await apply(.restart, to: selection)
  }

  /// Forgets downloads: what is downloaded and the records go, and with `withFile` the finished
  /// files that are provably ours.
  ///
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func remove(
    _ selection: RecordSelection,
    withFile: Bool = false
  ) async throws -> [CommandOutcome] {
    try await apply(.remove(withFile: withFile), to: selection)
  }

  /// Changes what is said of a download; the finished file gets its new name with the record, or
  /// neither changes.
  ///
  /// - Throws: As `DownloadStore.update(_:_:)`.
  @discardableResult
  public nonisolated func update(
    _ name: String,
    _ update: RecordUpdate
  ) async throws -> CommandOutcome {
    try await environment.blocking { [store] in try store.update(name, update) }
  }

  /// Gives a download another URL, as when a signed one has expired, and keeps what is downloaded.
  ///
  /// - Throws: As `DownloadStore.replaceURL(of:with:)`.
  @discardableResult
  public nonisolated func replaceURL(
    of name: String,
    with url: String
  ) async throws -> CommandOutcome {
    try await environment.blocking { [store] in try store.replaceURL(of: name, with: url) }
  }

  /// The records of a query; all of them without one.
  ///
  /// - Throws: `StoreError`.
  public nonisolated func records(
    _ query: Query<DownloadRecord> = DownloadRecord.all
  ) async throws -> [DownloadRecord] {
    try await store.objects.read { tx in try tx.fetch(query) }
  }

  private nonisolated func apply(
    _ command: DownloadCommand,
    to selection: RecordSelection
  ) async throws -> [CommandOutcome] {
    try await environment.blocking { [store] in try store.apply(command, to: selection) }
  }
}
