package import ObjectStore

/// Copies and compactions of a store, with their reports.
package enum StoreCopy {
  /// Copies a store to a new folder.
  ///
  /// - Returns: The line that names the folder and its size.
  /// - Throws: ``CommandFailure`` with `cannotCreate`; ``StoreError``.
  package static func backUp(_ store: Store, to target: String, compacting: Bool) throws -> String {
    try writing(target) {
      try UnfinishedFiles.endingOnSignal(saying: "backup stopped: repeat the command") {
        try store.backup(to: target, compacting: compacting)
      }
    }
    let size = StoreFolder.fileSize(target) ?? 0
    return "backup  \(TerminalText.safe(target))  \(ByteAmount.text(size)) (\(size) bytes)\n"
  }

  /// Runs an operation that copies an existing store to a new folder, and names that folder if it
  /// cannot be written.
  ///
  /// - Throws: ``CommandFailure`` with `cannotCreate` or `inputOutput`; any other error of `body`.
  static func writing(_ target: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StoreError {
      switch error.code {
      case .notFound:
        throw CommandFailure(.cannotCreate, "\(target) cannot be created: its parent is missing")
      case .alreadyExists:
        throw CommandFailure(.cannotCreate, "\(target) already exists: choose another name")
      case .diskFull:
        throw CommandFailure(
          .inputOutput,
          "copying to \(target): its disk is full, so no copy was made; free disk space or choose "
            + "another place"
        )
      default: throw error
      }
    }
  }

  /// Compacts a store that no other process has open, and prints what that saved.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the store's folder.
  ///   - command: The command that compacts the store, as the message of a stop quotes it.
  /// - Throws: ``CommandFailure``, as ``ClosedStore/perform(_:_:)``; ``StoreError``.
  package static func compact(_ path: String, command: String) throws {
    let before = StoreFolder.fileSize(path) ?? 0
    let saved = try ClosedStore.perform(path) {
      try ClosedStore.endingOnSignal(command) { try Store.compact(at: path) }
    }
    try Output.current.report(
      "saved \(saved) bytes: \(ByteAmount.text(before)) to \(ByteAmount.text(before - saved))\n"
    )
  }
}
