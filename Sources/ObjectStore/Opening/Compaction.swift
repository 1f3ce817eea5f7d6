internal import LMDB

/// Compacts a store before it is opened, if that is worth it and nobody has it open.
struct Compaction {
  let path: String
  let rule: CompactionRule
  let log: StoreLog?

  /// A store that cannot be compacted opens all the same: what is wrong with it is the open's to say.
  func runIfNeeded() {
    // The size alone says no to most stores, in one system call.
    guard let size = try? FileSize.of(path + "/data.mdb"), size >= rule.leastFileSize,
      let free = freeBytes, rule.applies(fileSize: size, freeBytes: free)
    else { return }
    do {
      log?.didCompact(path, bytes: try ObjectStore.compact(at: path))
    } catch {
      log?.didNotCompact(path, error)
    }
  }

  /// How much of the file is free; `nil` when that cannot be told.
  ///
  /// The environment is closed on return.
  private var freeBytes: Int64? {
    guard let environment = try? Environment.open(path),
      let pages = try? environment.freePageCount(),
      let statistics = try? environment.statistics()
    else { return nil }
    return Int64(pages) * Int64(statistics.pageSize)
  }
}
