public import DownloadStore
public import ObjectStore

/// The commands of the user.
///
/// Each command is one store transaction, and is durable on return. The commit notifies the running
/// engine, in this or another process, which acts within milliseconds (`docs/performance.md`).
/// Commands may be used before, during and after a run. They run on a background thread and do not
/// wait for the engine.
extension DownloadEngine {
  /// Wakes tasks that stopped making progress while the application was in the background.
  ///
  /// Call this when the application comes to the foreground. It only affects a
  /// ``BackgroundTransport``.
  public nonisolated func wakeTasks() {
    (transport as? any BackgroundTransport)?.wake()
  }

  /// Adds downloads to the store, all or none.
  ///
  /// A paused or failed download with the same URL resumes from the bytes on disk. A completed one
  /// is unchanged if its file exists, and a cancelled one restarts.
  ///
  /// ```swift
  /// try await engine.add([DownloadRequest(url: "https://example.com/archive.zip")])
  /// ```
  ///
  /// - Parameter requests: The downloads to add.
  /// - Returns: The record of each request, and whether it is new.
  /// - Throws: The errors of `RecordStore.add(_:)`.
  @discardableResult
  public nonisolated func add(_ requests: [DownloadRequest]) async throws -> [RecordStore.Added] {
    try await environment.blocking { [store] in try store.add(requests) }
  }

  /// Adds a download to the store and waits until it is complete.
  ///
  /// The engine must be running. If the download is paused, this waits until it is resumed and
  /// complete. Cancelling the waiting task does not stop the download.
  ///
  /// - Parameter request: The download to add.
  /// - Returns: The record and the path of the finished file.
  /// - Throws: The errors of ``download(_:)`` and ``DownloadHandle/value()``.
  public nonisolated func get(_ request: DownloadRequest) async throws -> FinishedDownload {
    try await environment.blocking { [self] in try download(request) }.value()
  }

  /// Pauses downloads; keeps the bytes already on disk.
  ///
  /// - Parameter selection: The downloads to pause.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func pause(_ selection: RecordSelection) async throws -> [CommandOutcome] {
    try await apply(.pause, to: selection)
  }

  /// Resumes downloads from the bytes already on disk, and forgets their failures.
  ///
  /// - Parameters:
  ///   - selection: The downloads to resume.
  ///   - immediately: Whether they start before all others. If no slot is free, the download that
  ///     has run longest is preempted and held until the user resumes it.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func resume(
    _ selection: RecordSelection,
    immediately: Bool = false
  ) async throws -> [CommandOutcome] {
    try await apply(.resume(immediately: immediately), to: selection)
  }

  /// Cancels downloads: deletes partial files, keeps the records.
  ///
  /// The running engine deletes the files; without one, the next engine does.
  ///
  /// - Parameter selection: The downloads to cancel. Completed downloads are unchanged.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func cancel(_ selection: RecordSelection) async throws -> [CommandOutcome] {
    try await apply(.cancel, to: selection)
  }

  /// Restarts downloads from the first byte.
  ///
  /// A finished file stays until the new one replaces it.
  ///
  /// - Parameter selection: The downloads to restart.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func restart(_ selection: RecordSelection) async throws -> [CommandOutcome] {
    try await apply(.restart, to: selection)
  }

  /// Removes downloads: deletes partial files and the records.
  ///
  /// The running engine deletes the files and the records; without one, the next engine does.
  ///
  /// - Parameters:
  ///   - selection: The downloads to remove.
  ///   - withFile: Whether finished files are deleted too. A file that was modified or replaced
  ///     since it was completed is kept.
  /// - Returns: The outcome for each download.
  /// - Throws: `StoreError`.
  @discardableResult
  public nonisolated func remove(
    _ selection: RecordSelection,
    withFile: Bool = false
  ) async throws -> [CommandOutcome] {
    try await apply(.remove(withFile: withFile), to: selection)
  }

  /// Changes the properties of a download.
  ///
  /// If the name of a completed download changes, its file is renamed too: either both change or
  /// neither does.
  ///
  /// - Parameters:
  ///   - name: The URL, the id, or the beginning of the id.
  ///   - update: The properties to change.
  /// - Returns: The outcome, with the record after the change.
  /// - Throws: The errors of `RecordStore.update(matching:with:)`.
  @discardableResult
  public nonisolated func update(
    matching name: String,
    with update: RecordUpdate
  ) async throws -> CommandOutcome {
    try await environment.blocking { [store] in try store.update(matching: name, with: update) }
  }

  /// Replaces the URL of a download and keeps the bytes on disk.
  ///
  /// Use this when a signed URL has expired.
  ///
  /// - Parameters:
  ///   - name: The current URL, the id, or the beginning of the id.
  ///   - url: The new URL.
  /// - Returns: The outcome, with the record after the change.
  /// - Throws: The errors of `RecordStore.replaceURL(matching:with:)`.
  @discardableResult
  public nonisolated func replaceURL(
    matching name: String,
    with url: String
  ) async throws -> CommandOutcome {
    try await environment.blocking { [store] in try store.replaceURL(matching: name, with: url) }
  }

  /// Returns the records that match a query.
  ///
  /// ```swift
  /// let paused = try await engine.records(DownloadRecord.where { $0.state == .paused })
  /// ```
  ///
  /// - Parameter query: The query; by default, all records.
  /// - Returns: The records in the order of the query.
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
