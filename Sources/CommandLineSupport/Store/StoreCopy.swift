package import ObjectStore

/// Copies and compactions of a store, with their reports.
package enum StoreCopy {
  /// Copies a store to a new folder.
  ///
  /// - Returns: The line that names the folder and its size.
  /// - Throws: ``CommandFailure`` with `cannotCreate`; ``StoreError``.
  package static func backUp(_ store: Store, to target: String, compacting: Bool) throws -> String {
    do {
      try UnfinishedFiles.endingOnSignal(saying: "backup stopped: repeat the command") {
        try store.backup(to: target, compacting: compacting)
      }
    } catch let error as StoreError where error.code == .notFound {
      throw CommandFailure(.cannotCreate, "\(target) cannot be created: its parent is missing")
    } catch let error as StoreError where error.code == .alreadyExists {
      throw CommandFailure(.cannotCreate, "\(target) already exists: choose another name")
    }
    let size = StoreFolder.fileSize(target) ?? 0
    return "backup  \(TerminalText.safe(target))  \(ByteAmount.text(size)) (\(size) bytes)\n"
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
