/// Decides how many connections a download may have.
///
/// Starts with one, continues with four, and doubles their number while the last step has raised the
/// total rate by more than a tenth; one that has not is taken back. A download that continues with
/// gaps had several connections before: it starts with one for each gap. Pure.
struct ConnectionRamp: Sendable, Hashable {
  private struct Window: Sendable, Hashable {
    var start: ContinuousClock.Instant
    var byteCount: Int64
  }

  /// The rate with fewer connections.
  private struct Level: Sendable, Hashable {
    var connections: Int
    /// In bytes per second.
    var rate: Double
  }

  /// The number of windows in which a higher rate must show.
  ///
  /// Servers that limit the rate send in bursts, often once per second, so a single window says little.
  private static let windowCount = 6

  /// The number of connections after the first one.
  ///
  /// Servers that limit the rate send the bytes of the first second at once, so the first moments of
  /// a second connection are only as fast as those of the first one were.
  private static let secondStep = 4

  /// The number of connections that the download may have.
  private(set) var target: Int
  /// The largest number of connections that the user wants.
  private(set) var limit: Int
  /// The largest number of connections, as far as the server has shown.
  private var maximum: Int
  private let measuringTime: Duration
  /// The rate in bytes per second with which one connection stays alone; `nil` if there is none.
  private let rateLimit: Int64?
  private var window: Window?
  /// The number of windows since the number of connections changed.
  private var windowsLeft = Self.windowCount
  private var previous: Level?
  private var isSettled = false

  /// Creates a ramp.
  ///
  /// - Parameters:
  ///   - maximum: The largest number of connections.
  ///   - gaps: The number of gaps in the file.
  ///   - measuringTime: The length of a window in which the rate is measured; zero to add connections
  ///     without measuring.
  ///   - rateLimit: The rate in bytes per second from which on one connection stays alone.
  init(maximum: Int, gaps: Int = 0, measuringTime: Duration, rateLimit: Int64? = nil) {
    limit = max(1, maximum)
    self.maximum = limit
    target = max(1, min(limit, gaps))
    self.measuringTime = measuringTime
    self.rateLimit = rateLimit
  }

  /// Notes the number of received bytes.
  ///
  /// - Parameters:
  ///   - byteCount: The number of bytes that all connections have received.
  ///   - running: The number of running connections that have received bytes.
  ///   - now: The current time.
  mutating func note(_ byteCount: Int64, running: Int, at now: ContinuousClock.Instant) {
    // Without as many connections as allowed, the rate says nothing about their number.
    guard !isSettled, running >= target else {
      window = nil
      return
    }
    guard measuringTime > .zero else {
      target = min(maximum, target + 1)
      return
    }
    guard let window else {
      window = Window(start: now, byteCount: byteCount)
      return
    }
    let time = window.start.duration(to: now)
    guard time >= measuringTime else { return }
    let rate = Double(byteCount - window.byteCount) / (time / .seconds(1))
    // The window continues, so that a burst at its beginning loses its weight.
    if target == 1, let rateLimit, rate >= Double(rateLimit) { return }
    self.window = nil
    note(rate)
  }

  /// Notes the rate of a window in bytes per second.
  private mutating func note(_ rate: Double) {
    if rate > (previous?.rate ?? 0) * 1.1 {
      previous = Level(connections: target, rate: rate)
      isSettled = target >= maximum
      target = min(maximum, target == 1 ? Self.secondStep : target * 2)
      windowsLeft = Self.windowCount
      return
    }
    guard let previous else { return }
    windowsLeft -= 1
    guard windowsLeft == 0 else { return }
    target = min(target, previous.connections)
    maximum = target
    isSettled = true
  }

  /// Changes the largest number of connections.
  mutating func limit(to maximum: Int) {
    guard maximum != limit else { return }
    limit = max(1, maximum)
    self.maximum = limit
    target = min(target, limit)
    (window, previous, isSettled) = (nil, nil, false)
    windowsLeft = Self.windowCount
  }

  /// Notes that the server refused a connection while others were running.
  mutating func noteRefusal(running: Int) {
    maximum = min(maximum, max(1, running))
    target = min(target, maximum)
  }
}

/// Tells a connection that makes progress from one that has stalled.
///
/// Pure.
struct ConnectionPace: Sendable, Hashable {
  private var position: Int64
  /// The time of the last progress.
  private(set) var progressed: ContinuousClock.Instant

  init(at position: Int64, _ now: ContinuousClock.Instant) {
    self.position = position
    progressed = now
  }

  /// Notes the offset of the next byte.
  mutating func note(_ position: Int64, at now: ContinuousClock.Instant) {
    guard position != self.position else { return }
    self.position = position
    progressed = now
  }

  /// Returns the numbers of the connections that have made no progress for a time.
  static func stalled(
    _ paces: [Int: Self],
    after time: Duration,
    at now: ContinuousClock.Instant
  ) -> [Int] {
    paces.filter { $0.value.progressed.duration(to: now) >= time }.keys.sorted()
  }
}
