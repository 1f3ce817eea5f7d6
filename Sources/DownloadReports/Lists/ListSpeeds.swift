internal import DownloadStore
package import Foundation

/// The speeds of running downloads, measured from the byte counts of a list.
///
/// A count is as old as its record: an engine stores one about once a second. So the speed is measured
/// between the times of two records, and is unknown until a second one is read.
package struct ListSpeeds: Sendable {
  /// The byte counts of a download.
  private struct Counts: Sendable {
    var meter = SpeedMeter()
    /// The record's last change.
    var updatedAt = Date.distantPast
    /// The same time on the monotonic clock.
    var moment: SuspendingClock.Instant
  }

  /// The time for which the counts of a download that the list does not show any more are kept, so
  /// that a filter resets no speed.
  private static let retention = Duration.seconds(60)

  private var counts: [String: Counts] = [:]
  /// The speeds in bytes per second, by record id; a download whose speed is unknown has none.
  package private(set) var values: [String: Double] = [:]
  /// Whether a download was running at the last call of ``note(_:at:date:)``.
  package private(set) var hasRunning = false

  /// Creates speeds that are all unknown.
  package init() {}

  /// Adds the current byte counts.
  ///
  /// - Parameters:
  ///   - entries: The downloads of the list.
  ///   - now: The current time on the monotonic clock.
  ///   - date: The current time of day, with which the times of records are compared.
  package mutating func note(
    _ entries: [DownloadEntry],
    at now: SuspendingClock.Instant,
    date: Date = Date()
  ) {
    values = [:]
    hasRunning = false
    counts = counts.filter { $0.value.moment.duration(to: now) < Self.retention }
    for record in entries.map(\.record) {
      guard record.state == .running else {
        counts[record.id] = nil
        continue
      }
      hasRunning = true
      let age = Duration.seconds(max(0, date.timeIntervalSince(record.updatedAt)))
      var counted = counts[record.id] ?? Counts(moment: now)
      if record.updatedAt != counted.updatedAt {
        counted.updatedAt = record.updatedAt
        counted.moment = now - age
        counted.meter.note(record.received, at: counted.moment)
      }
      // Without a new count for long, nothing arrives.
      let moment = age > SpeedMeter.window ? now : counted.moment
      values[record.id] = counted.meter.bytesPerSecond(at: moment)
      counts[record.id] = counted
    }
  }
}
