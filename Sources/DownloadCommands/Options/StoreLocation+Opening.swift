internal import DownloadStore
internal import DownloadSync
internal import ObjectStore
internal import SystemInterface

extension StoreLocation {
  /// Opens the store for reading without its models: any ObjectStore folder.
  ///
  /// - Throws: ``StoreError``.
  func openedWithoutModels() throws -> Store {
    try Store(at: resolved(), models: [], options: StoreOptions(access: .readOnly))
  }

  /// The absolute path of an existing store's folder.
  ///
  /// - Throws: ``CommandFailure`` with `cannotCreate`, `notFound` or `permissionDenied`.
  func existing() throws -> String {
    let path = resolved()
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
      throw CommandFailure(.cannotCreate, "\(path) is not a folder")
    }
    guard unsafe lstat(path + "/data.mdb", &status) == 0 else {
      let code = errno
      throw code == ENOENT
        ? CommandFailure(.notFound, "\(path): there is no store here; \(Advice.withoutStore)")
        : CommandFailure(SystemCall.status(code), "\(path): \(systemErrorText(code))")
    }
    return path
  }
}

/// Operations that need the store closed in every process.
enum ClosedStore {
  /// Throws if an engine runs on the store.
  ///
  /// - Throws: ``CommandFailure`` with `engineRuns`.
  static func refuseEngine(_ path: String) throws {
    guard let holder = EngineLock.holder(storePath: path) else { return }
    throw CommandFailure(.engineRuns, "an engine runs on \(path) (\(holder)): stop it first")
  }

  /// Runs `body`, and explains a store that is open elsewhere.
  ///
  /// - Throws: ``CommandFailure`` with `engineRuns` if an engine has the store open, or `failed` if
  ///   another process has; any other error of `body`.
  static func perform<R>(_ path: String, _ body: () throws -> R) throws -> R {
    try refuseEngine(path)
    do {
      return try body()
    } catch let error as StoreError where error.code == .busy {
      let message = "another process has \(path) open: end it, then repeat the command"
      throw CommandFailure(.failed, message)
    }
  }

  /// Runs a compaction, which Ctrl-C and SIGTERM end together with the process.
  ///
  /// They remove the unfinished copy first.
  static func endingOnSignal<R>(_ compaction: () throws -> R) rethrows -> R {
    try UnfinishedFiles.endingOnSignal(
      saying: "compaction stopped: the store has all changes; 'dlstore compact' compacts it",
      compaction
    )
  }
}

/// Operations that write a temporary file or folder.
enum UnfinishedFiles {
  /// Runs an operation, which Ctrl-C and SIGTERM end together with the process.
  ///
  /// They remove its temporary files first.
  static func endingOnSignal<R>(saying message: String, _ body: () throws -> R) rethrows -> R {
    let output = Output.current
    let signals = StopSignals { signal in
      Store.abandonUnfinishedWork()
      output.say(message)
      _exit(signal.status.rawValue)
    }
    // An operation that fails because its file was removed must not end the process first.
    defer { while signals.first != nil { pause() } }
    return try body()
  }
}

extension Store {
  /// Whether this is a store of downloads.
  func hasDownloads() throws -> Bool {
    try storedModels().contains { $0.name == DownloadRecord.schema.name }
  }

  /// Throws if this is not a store of downloads.
  ///
  /// - Parameter reason: Why the command needs one.
  /// - Throws: ``CommandFailure`` with `usage`; ``StoreError``.
  func requireDownloads(_ reason: String) throws {
    guard try hasDownloads() else {
      throw CommandFailure(.usage, "\(path) is not a store of downloads: \(reason)")
    }
  }
}
