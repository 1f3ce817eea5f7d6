internal import Foundation

/// How fast bytes arrive, by what arrived in the last seconds.
///
/// Bytes that were there when it began do not count, and a way back begins it anew. The speed is the
/// mean over ``window``, smoothed: what it was before weighs half after each ``halfLife``.
///
/// The clock comes from outside and is monotonic, so that nobody who sets the time of day changes
/// speeds; it does not go on while the machine sleeps.
public struct SpeedMeter: Sendable {
  /// A moment, and how far the download was.
  private struct Sample {
    var at: SuspendingClock.Instant
    var received: Int64
  }

  /// How far back the speed looks.
  public static let window = Duration.seconds(3)
  /// After how long the past weighs half.
  public static let halfLife = Duration.seconds(1)
  /// What is shorter tells no speed.
  static let shortest = Duration.milliseconds(200)
  /// Samples closer than this count as one, so that their number has a bound.
  private static let step = Duration.milliseconds(50)

  /// In order; the last one is the last that was noted.
  private var samples: [Sample] = []
  private var smoothed: (at: SuspendingClock.Instant, value: Double)?

  /// Makes a meter that has seen nothing.
  public init() {}

  /// Takes note of how far the download is, in bytes.
  ///
  /// What is said of a moment before the last one is not heard.
  public mutating func note(_ received: Int64, at now: SuspendingClock.Instant) {
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
    // One from before the window stays: the way from it reaches into the window.
    while samples.count > 2, samples[1].at.duration(to: now) >= Self.window {
      samples.removeFirst()
    }
    if let speed = speed(at: now) { smoothed = (now, speed) }
  }

  /// Bytes per second; `nil` until there is something to measure, zero when nothing has arrived for
  /// as long as the window.
  public func bytesPerSecond(at now: SuspendingClock.Instant) -> Double? {
    guard let mean = mean(at: now) else { return nil }
    return mean > 0 ? speed(at: now) : 0
  }

  private func speed(at now: SuspendingClock.Instant) -> Double? {
    guard let mean = mean(at: now) else { return nil }
    guard let smoothed else { return mean }
    let weight = exp2(-(smoothed.at.duration(to: now) / Self.halfLife))
    return smoothed.value * weight + mean * (1 - weight)
  }

  /// The mean over the window that ends now.
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
