internal import Foundation

/// Measures the speed from the bytes of the last seconds.
///
/// The first sample is the baseline; a lower count resets the meter. The speed is the mean over
/// ``window``, smoothed exponentially with ``halfLife``.
///
/// The caller provides a monotonic clock, so setting the time of day does not affect speeds.
package struct SpeedMeter: Sendable {
  /// A time and the byte count at that time.
  private struct Sample {
    var at: SuspendingClock.Instant
    var received: Int64
  }

  /// The time over which the mean is taken.
  package static let window = Duration.seconds(3)
  /// The half-life of the smoothing.
  package static let halfLife = Duration.seconds(1)
  /// The minimum time for a measurement.
  static let shortest = Duration.milliseconds(200)
  /// Samples closer than this are merged, which bounds their number.
  private static let step = Duration.milliseconds(50)

  /// The samples in order of time.
  private var samples: [Sample] = []
  private var smoothed: (at: SuspendingClock.Instant, value: Double)?

  /// Creates a meter without samples.
  package init() {}

  /// Adds a sample of the byte count.
  ///
  /// Samples older than the last one are ignored.
  package mutating func note(_ received: Int64, at now: SuspendingClock.Instant) {
    if let last = samples.last {
      guard now >= last.at else { return }
      if received < last.received {
        samples = []
        smoothed = nil
      }
    }
    if samples.count >= 2, samples[samples.count - 2].at.duration(to: now) < Self.step {
      samples.removeLast()
    }
    samples.append(Sample(at: now, received: received))
    // One sample before the window is kept, for interpolation.
    while samples.count > 2, samples[1].at.duration(to: now) >= Self.window {
      samples.removeFirst()
    }
    if let speed = speed(at: now) { smoothed = (now, speed) }
  }

  /// The speed in bytes per second; `nil` before it can be measured, zero if nothing arrived during
  /// the window.
  package func bytesPerSecond(at now: SuspendingClock.Instant) -> Double? {
    guard let mean = mean(at: now) else { return nil }
    return mean > 0 ? speed(at: now) : 0
  }

  private func speed(at now: SuspendingClock.Instant) -> Double? {
    guard let mean = mean(at: now) else { return nil }
    guard let smoothed else { return mean }
    let weight = exp2(-(smoothed.at.duration(to: now) / Self.halfLife))
    return smoothed.value * weight + mean * (1 - weight)
  }

  /// The mean over the window.
  private func mean(at now: SuspendingClock.Instant) -> Double? {
    guard let first = samples.first, let last = samples.last,
      first.at.duration(to: now) >= Self.shortest, now >= last.at
    else { return nil }
    let start = now.advanced(by: .zero - Self.window)
    guard first.at < start else {
      return Double(last.received - first.received) / (first.at.duration(to: now) / .seconds(1))
    }
    guard let next = samples.firstIndex(where: { $0.at >= start }) else { return 0 }
    // The window begins between two samples.
    let (before, after) = (samples[next - 1], samples[next])
    let part = before.at.duration(to: start) / before.at.duration(to: after.at)
    let arrived =
      Double(last.received - after.received)
      + (1 - part) * Double(after.received - before.received)
    return arrived / (Self.window / .seconds(1))
  }
}
