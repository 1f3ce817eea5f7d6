package import ObjectStore

/// The objects that a command may have added, replaced or removed.
///
/// A command that has changed a large part of a store compacts its file when it ends. Its
/// transactions leave many free pages, which LMDB would reuse in the order in which they were freed:
/// an engine would then write each commit to scattered places of the file (decision 0059).
package struct BulkChange {
  /// The number of objects.
  package var objectCount: Int

  /// Creates a change.
  package init(objectCount: Int = 0) { self.objectCount = objectCount }

  /// With fewer changed objects the file stays as it is, whatever its free pages are.
  static let minimumObjectCount = 1_000
  /// How much may be copied for each changed object, in bytes.
  ///
  /// To copy that much takes less time than `add` takes to store a download.
  static let maximumCopySizePerObject: Int64 = 8 << 10
  package static let minimumFileSize: Int64 = 8 << 20
  /// Free pages slow an engine down by their number, not by their share of the file.
  static let minimumFreeFraction = 0.01

  /// The rule for compacting the store; `nil` if too few objects have changed.
  package var compactionRule: CompactionRule? {
    guard objectCount >= Self.minimumObjectCount else { return nil }
    let (copySize, overflows) = Int64(objectCount)
      .multipliedReportingOverflow(by: Self.maximumCopySizePerObject)
    return CompactionRule(
      minimumFileSize: Self.minimumFileSize,
      minimumFreeFraction: Self.minimumFreeFraction,
      maximumCopySize: overflows ? .max : copySize
    )
  }

  /// Compacts a store that this command has closed, if the change was large.
  ///
  /// The change is committed, so failures do not fail the command. The file stays as it is while
  /// another process has the store open. Ctrl-C and SIGTERM end the process.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the store's folder.
  ///   - command: The command that compacts the store, for the message of a stop.
  package func compact(storeAt path: String, command: String) {
    guard let compactionRule else { return }
    do {
      _ = try ClosedStore.endingOnSignal(command) {
        try Store.compact(at: path, if: compactionRule)
      }
    } catch let error as StoreError where error.code == .busy || error.code == .diskFull {
      // Both are expected, and the store works as well as before.
    } catch {
      Output.current.say("the store was not compacted: \(error)")
    }
  }
}
