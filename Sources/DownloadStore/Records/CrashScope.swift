/// Which downloads the previous engine was transferring when its process crashed.
package enum CrashScope: Sendable, Hashable {
  /// The process did not crash: it ended, was killed, or lost power.
  case none
  /// One download, which is the cause.
  case alone
  /// Several downloads, any of which may be the cause.
  case several

  /// Creates the scope of a crash from the number of records whose state was `running`.
  package init(runningCount: Int) {
    self = runningCount == 1 ? .alone : .several
  }
}
