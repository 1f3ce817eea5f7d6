/// How fast one download is, by what arrived in the last seconds.
///
/// Bytes that were there when it began do not count.
struct TransferMeter: Sendable {
  private struct Sample {
    var at: SuspendingClock.Instant
    var received: Int64
  }

  /// How far back the speed looks.
  private static let window = Duration.seconds(5)
  private var samples: [Sample] = []

  /// Takes note of how far the download is.
  ///
  /// The clock is monotonic: setting the time of day does not change speeds.
  mutating func note(_ received: Int64, at now: SuspendingClock.Instant) {
    // It began anew.
    if let last = samples.last, received < last.received { samples = [] }
    samples.append(Sample(at: now, received: received))
    while samples.count > 2, samples[1].at.duration(to: now) >= Self.window {
      samples.removeFirst()
    }
  }

  /// Bytes per second; `nil` until there is something to measure.
  var bytesPerSecond: Double? {
    guard let first = samples.first, let last = samples.last else { return nil }
    let seconds = first.at.duration(to: last.at) / .seconds(1)
    guard seconds >= 0.2 else { return nil }
    return Double(last.received - first.received) / seconds
  }

  /// The seconds until a whole of `expected` bytes is there at this speed.
  func remaining(of expected: Int64?) -> Double? {
    guard let expected, let last = samples.last, let speed = bytesPerSecond, speed > 0 else {
      return nil
    }
    return max(0, Double(expected - last.received)) / speed
  }
}
