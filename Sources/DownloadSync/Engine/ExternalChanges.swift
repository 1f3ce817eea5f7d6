/// Tells commits of others from our own, by the numbers that the store gives to commits.
struct ExternalChanges: Sendable {
  /// The last commit that is known, whoever made it.
  private var last: UInt64
  private var haveHappened = false

  init(seen: UInt64) {
    last = seen
  }

  /// Notes a commit of ours that changed something.
  ///
  /// Numbers that are left out are of others.
  mutating func noteOwnCommit(_ number: UInt64) {
    if number > last + 1 { haveHappened = true }
    last = max(last, number)
  }

  /// Whether somebody else has committed since the last call.
  mutating func haveHappened(changeCount: UInt64) -> Bool {
    defer {
      last = changeCount
      haveHappened = false
    }
    return haveHappened || changeCount != last
  }
}
