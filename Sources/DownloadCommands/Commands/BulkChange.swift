internal import ObjectStore

/// The objects that a command has added, replaced or removed.
///
/// A command that has changed a large part of a store compacts its file when it ends. Its
/// transactions leave many free pages, which LMDB would reuse in the order in which they were freed:
/// an engine would then write each commit to scattered places of the file (decision 0059).
struct BulkChange {
  var objectCount = 0

  /// The largest number of objects in the store for each changed one.
  ///
  /// A compaction copies the whole file. To copy a download takes about a fourteenth of the time in
  /// which `add` stores one, so that `add` takes at most about half longer.
  static let maximumObjectsPerChange = 8
  /// With fewer changed objects the file stays as it is, whatever its free pages are.
  static let minimumObjectCount = 1_000
  /// Free pages slow an engine down by their number, not by their share of the file.
  static let rule = CompactionRule(minimumFileSize: 8 << 20, minimumFreeFraction: 0.01)

  /// Whether a store with that many objects after the change may be compacted.
  func isLarge(inStoreOf total: Int) -> Bool {
    objectCount >= Self.minimumObjectCount && total / Self.maximumObjectsPerChange <= objectCount
  }

  /// Compacts a store that this command has closed, if the change was large.
  ///
  /// The change is committed, so failures do not fail the command. The file stays as it is while
  /// another process has the store open.
  func compact(storeAt path: String) {
    guard objectCount >= Self.minimumObjectCount else { return }
    do {
      guard isLarge(inStoreOf: try Self.objectCount(ofStoreAt: path)) else { return }
      try Store.compact(at: path, if: Self.rule)
    } catch let error as StoreError where error.code == .busy || error.code == .diskFull {
      // Both are expected, and the store works as well as before.
    } catch {
      Output.current.say("the store was not compacted: \(error)")
    }
  }

  private static func objectCount(ofStoreAt path: String) throws -> Int {
    let store = try Store(at: path, models: [], options: StoreOptions(access: .readOnly))
    return try store.statistics().models.values.reduce(0) { $0 + $1.objects }
  }
}
