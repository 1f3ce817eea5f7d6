internal import LMDB

extension ObjectStore {
  /// Runs the writes that wait, as many together as there are.
  func drainWrites() {
    while true {
      var batch = writes.takeBatch()
      guard !batch.isEmpty else { return }
      // What could not begin, because the map was full, begins again in the next transaction.
      while !batch.isEmpty { batch = commitTogether(batch) }
    }
  }

  /// Runs the writes in one transaction with one commit, each nested, so that one that throws does
  /// not undo the others; returns those that have not begun.
  ///
  /// When the commit fails, each of them fails with its error. When one finds the map full, it
  /// fails alone, and those after it do not begin: the map grows between transactions only.
  private func commitTogether(_ batch: ArraySlice<WriteQueue.Write>) -> ArraySlice<WriteQueue.Write>
  {
    var succeeded: [(resume: @Sendable () -> Void, write: WriteQueue.Write)] = []
    var begun = batch.startIndex
    do {
      try translating("writing \(path)") {
        var transaction = try beginWrite()
        let isAlone = batch.count == 1
        while begun < batch.endIndex {
          let write = batch[begun]
          begun += 1
          do {
            let resume =
              isAlone
              ? try run(write.run, in: &transaction)
              : try transaction.nested { try run(write.run, in: &$0) }
            succeeded.append((resume, write))
          } catch {
            let error = translated(error)
            write.fail(error)
            guard !isAlone else { return }
            if (error as? StoreError)?.code == .full { break }
          }
        }
        guard let durability = succeeded.map(\.write.durability).max() else { return }
        try commit(transaction, durability, withoutNotifying: batch[batch.startIndex].suppressedFor)
        log?.didCommitTogether(succeeded.count, durability: durability)
      }
      for write in succeeded { write.resume() }
    } catch {
      guard begun > batch.startIndex else {
        // The transaction did not begin.
        for write in batch { write.fail(error) }
        return []
      }
      for write in succeeded { write.write.fail(error) }
    }
    return batch[begun...]
  }

  private func translated(_ error: any Error) -> any Error {
    (error as? LMDBError).map { StoreError($0, "writing \(path)") } ?? error
  }
}
