/// Decides how many connections a download may have.
///
/// Starts with one, continues with four, and doubles their number while the last step has raised the
/// total rate by more than a tenth. A step that has not is taken back, and the fewer connections are
/// measured for the same time. If the rate of the step was more than a tenth higher, the ramp
/// continues with the next larger number; otherwise it keeps the fewer. A download that continues with
/// gaps had several connections before: it starts with one for each gap. Pure.
struct ConnectionRamp: Sendable, Hashable {
  private struct Window: Sendable, Hashable {
    var start: ContinuousClock.Instant
    var byteCount: Int64
  }

  /// A number of connections and their total rate.
  private struct Level: Sendable, Hashable {
    var connections: Int
    /// In bytes per second.
    var rate: Double
  }

  /// The rate of a number of connections after their first second.
  ///
  /// Servers that limit the rate send the bytes of the first second immediately, and later ones in
  /// bursts, often one per second. So the first second does not count, and a single window says little.
  private struct Measurement: Sendable, Hashable {
    private var passedTime = Duration.zero
    private var windowCount = 0
    private var byteCount: Int64 = 0
    private var time = Duration.zero

    /// In bytes per second.
    var rate: Double { Double(byteCount) / (time / .seconds(1)) }
    /// Whether a higher rate would have shown.
    var isComplete: Bool { windowCount >= 6 && time >= .milliseconds(1_500) }

    mutating func add(_ byteCount: Int64, in time: Duration) {
      defer { passedTime += time }
      guard passedTime >= .seconds(1) else { return }
      windowCount += 1
      self.byteCount += byteCount
      self.time += time
    }
  }

  private enum Phase: Sendable, Hashable {
    case raising
    /// The last step was taken back; its rate is compared with that of the fewer connections.
    ///
    /// A burst may have made these seem faster than they are.
    case reviewing(Level)
    case settled
  }

  /// The number of connections after the first one.
  ///
  /// Servers that limit the rate send the bytes of the first second immediately, so the first moments
  /// of a second connection are only as fast as those of the first one were.
  private static let secondStep = 4

  /// The number of connections that the download may have.
  private(set) var target: Int
  /// Whether the server has refused a connection.
  private(set) var hasRefusal = false
  /// The largest number of connections that the user wants.
  private(set) var limit: Int
  /// The largest number of connections, as far as the server has shown.
  private var maximum: Int
  private let measuringTime: Duration
  /// The rate in bytes per second with which one connection stays alone; `nil` if there is none.
  private let rateLimit: Int64?
  private var window: Window?
  private var measurement = Measurement()
  private var previous: Level?
  private var phase = Phase.raising

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
    guard phase != .settled, running >= target, !isReviewing || running == target else {
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
    if isFastAlone(rate), !isReviewing { return }
    measurement.add(byteCount - window.byteCount, in: time)
    let measured = target
    switch phase {
    case .raising: noteRaised(rate)
    case .reviewing(let rejected): review(rejected)
    case .settled: break
    }
    self.window = target == measured ? Window(start: now, byteCount: byteCount) : nil
  }

  /// Whether a rate in bytes per second is that of one connection which stays alone.
  private func isFastAlone(_ rate: Double) -> Bool {
    guard target == 1, let rateLimit else { return false }
    return rate >= Double(rateLimit)
  }

  private var isReviewing: Bool { if case .reviewing = phase { true } else { false } }

  /// Notes the rate of a window in bytes per second.
  private mutating func noteRaised(_ rate: Double) {
    if rate > (previous?.rate ?? 0) * 1.1 {
      raise(from: Level(connections: target, rate: rate))
      return
    }
    guard let previous, measurement.isComplete else { return }
    let rejected = Level(connections: target, rate: measurement.rate)
    target = min(target, previous.connections)
    measurement = Measurement()
    phase = .reviewing(rejected)
  }

  /// Compares the rates of more and of fewer connections.
  private mutating func review(_ rejected: Level) {
    guard measurement.isComplete else { return }
    if rejected.rate > measurement.rate * 1.1, !isFastAlone(measurement.rate) {
      raise(from: rejected)
    } else {
      maximum = target
      phase = .settled
    }
  }

  /// Takes the step after one that has raised the rate.
  private mutating func raise(from level: Level) {
    previous = level
    phase = level.connections >= maximum ? .settled : .raising
    target = min(maximum, level.connections == 1 ? Self.secondStep : level.connections * 2)
    measurement = Measurement()
  }

  /// Changes the largest number of connections.
  mutating func limit(to maximum: Int) {
    guard maximum != limit else { return }
    limit = max(1, maximum)
    self.maximum = limit
    target = min(target, limit)
    (window, previous, phase) = (nil, nil, .raising)
    measurement = Measurement()
  }

  /// Notes that the server refused a connection while others were running.
  mutating func noteRefusal(running: Int) {
    hasRefusal = true
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
