/// Distinguishes the commits of other writers from the engine's own, by the store's change count.
struct ExternalChanges: Sendable {
  /// The change count of the last known commit.
  private var last: UInt64
  private var haveHappened = false

  init(seen: UInt64) {
    last = seen
  }

  /// Notes a commit of the engine that changed something.
  ///
  /// A gap in the sequence means that another writer committed.
  mutating func noteOwnCommit(_ number: UInt64) {
    if number > last + 1 { haveHappened = true }
    last = max(last, number)
  }

  /// Returns whether another writer has committed since the last call.
  mutating func haveHappened(commitNumber: UInt64) -> Bool {
    defer {
      last = commitNumber
      haveHappened = false
    }
    return haveHappened || commitNumber != last
  }
}
