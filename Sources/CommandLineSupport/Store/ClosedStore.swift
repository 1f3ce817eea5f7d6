internal import ObjectStore
internal import SystemInterface

/// Operations that need the store closed in every other process.
package enum ClosedStore {
  /// Runs `body`, and explains a store that is open elsewhere.
  ///
  /// - Throws: ``CommandFailure`` with `failed` if another process has the store open; any other
  ///   error of `body`.
  package static func perform<R>(_ path: String, _ body: () throws -> R) throws -> R {
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
  ///
  /// - Parameters:
  ///   - command: The command that compacts the store later, as a message quotes it.
  ///   - compaction: The compaction.
  /// - Returns: The result of the compaction.
  package static func endingOnSignal<R>(
    _ command: String,
    _ compaction: () throws -> R
  ) rethrows -> R {
    try UnfinishedFiles.endingOnSignal(
      saying: "compaction stopped: the store has all changes; \(command) compacts it",
      compaction
    )
  }
}

/// Operations that write a temporary file or folder.
package enum UnfinishedFiles {
  /// Runs an operation, which Ctrl-C and SIGTERM end together with the process.
  ///
  /// They remove its temporary files first.
  package static func endingOnSignal<R>(
    saying message: String,
    _ body: () throws -> R
  ) rethrows -> R {
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

extension StoreFolder {
  /// Throws if the folder has no store.
  ///
  /// - Parameter path: The absolute path of the folder.
  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied` or `other`.
  package static func requireStore(at path: String) throws {
    try prepare(path, access: .readOnly)
  }

  /// Returns the size of the store's file on disk, in bytes; `nil` if it does not exist.
  package static func fileSize(_ path: String) -> Int64? {
    var status = stat()
    return statFollowingLinks(path + "/data.mdb", &status) == 0 ? Int64(status.st_size) : nil
  }
}
