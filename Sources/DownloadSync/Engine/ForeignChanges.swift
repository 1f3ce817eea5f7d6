/// Tells commits of others from our own, by counting ours.
struct ForeignChanges: Sendable {
  private var seen: UInt64
  private var own: UInt64 = 0

  init(seen: UInt64) {
    self.seen = seen
  }

  mutating func noteOwnCommit() {
    own += 1
  }

  /// Whether somebody else has committed since the last call.
  ///
  /// A commit of ours that changed nothing is not counted by the store, so the answer may be yes
  /// for no reason; it is never no wrongly for longer than until the next call.
  mutating func haveHappened(changeCount: UInt64) -> Bool {
    defer {
      seen = changeCount
      own = 0
    }
    return changeCount != seen + own
  }
}
