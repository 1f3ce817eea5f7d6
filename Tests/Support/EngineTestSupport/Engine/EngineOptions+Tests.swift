package import DownloadSync

extension EngineOptions {
  /// Removes limits of time and speed, which a slow machine exceeds: it may pause any thread for a
  /// minute.
  ///
  /// A test of such a limit sets it afterwards. A file is downloaded over one connection, unless it has
  /// gaps or the test sets ``split``: on a slow machine, any transfer lasts long enough to get more.
  package mutating func removeTimeLimits() {
    let day = Duration.seconds(86_400)
    lowestSpeed = 0
    interceptorDeadline = day
    split.measuringTime = day
    split.stallTime = day
    // A process that looks for the holder of the lock has it for a moment.
    lockPatience = .seconds(300)
  }
}
