/// The volumes that have run out of space, when to check them again, and what may start there.
///
/// A volume is not monitored until a write on it fails. It then counts as full until a check finds
/// free space. After that, each start is compared with the free space, until no download is
/// deferred.
struct DiskSpaceMonitor: Sendable {
  private enum Status {
    case full
    /// Has free space, and each start is compared with it.
    case limited
  }

  private struct Volume {
    var status: Status
    /// A folder on it.
    var folder: String
    var lastCheck: ContinuousClock.Instant
    /// The free space with which downloads of unknown size were tried alone, by record id.
    var tried: [String: Int64] = [:]
  }

  /// The bytes to leave free: an almost full file system is slow, and other programs need space
  /// too.
  static let reserve: Int64 = 1 << 20
  /// The assumed number of missing bytes of a download whose size is unknown.
  static let usualSize: Int64 = 16 << 20

  private var volumes: [UInt64: Volume] = [:]

  /// Whether no volume is monitored.
  var isEmpty: Bool { volumes.isEmpty }

  /// Whether a volume counts as full.
  func isFull(_ volume: UInt64) -> Bool { volumes[volume]?.status == .full }

  /// Notes that a write has failed because the volume is full.
  mutating func noteFull(_ volume: UInt64, folder: String, at moment: ContinuousClock.Instant) {
    let tried = volumes[volume]?.tried ?? [:]
    volumes[volume] = Volume(status: .full, folder: folder, lastCheck: moment, tried: tried)
  }

  /// Notes that a volume has space, but not enough for a download whose size is known.
  mutating func noteLimited(_ volume: UInt64, folder: String, at moment: ContinuousClock.Instant) {
    guard volumes[volume] == nil else { return }
    volumes[volume] = Volume(status: .limited, folder: folder, lastCheck: moment)
  }

  /// Returns the volumes to check now, each with a folder on it, and notes them as checked.
  mutating func due(
    at moment: ContinuousClock.Instant,
    interval: Duration
  ) -> [(volume: UInt64, folder: String)] {
    volumes.keys.sorted().compactMap { key in
      guard let volume = volumes[key], volume.lastCheck.duration(to: moment) >= interval else {
        return nil
      }
      volumes[key]?.lastCheck = moment
      return (key, volume.folder)
    }
  }

  /// Notes the free space that a check has found.
  ///
  /// - Parameters:
  ///   - available: The free space of the volume, in bytes.
  ///   - volume: The volume.
  ///   - isAwaited: Whether downloads to the volume are deferred.
  /// - Returns: Whether downloads may start there.
  mutating func note(_ available: Int64, on volume: UInt64, isAwaited: Bool) -> Bool {
    switch volumes[volume]?.status {
    case nil:
      return true
    case .full:
      guard available > Self.reserve else { return false }
      volumes[volume]?.status = .limited
      return true
    case .limited:
      if !isAwaited { volumes[volume] = nil }
      return true
    }
  }

  /// The folder whose free space to check before a download to the volume starts; `nil` for a
  /// volume that is not monitored.
  func folder(toCheckOn volume: UInt64) -> String? { volumes[volume]?.folder }

  /// Decides whether a download may start on a monitored volume.
  ///
  /// A download of unknown size also starts if it is alone, once with each amount of free space: it
  /// may be small, and would otherwise wait for space that it does not need.
  ///
  /// - Parameters:
  ///   - download: The download.
  ///   - running: The missing bytes of the running downloads to its volume.
  ///   - available: The free space, in bytes.
  /// - Returns: Whether it may start.
  mutating func mayStart(
    _ download: Scheduler.Candidate,
    beside running: [Int64?],
    available: Int64
  ) -> Bool {
    if Self.fits(download.missingBytes, beside: running, available: available) { return true }
    guard download.missingBytes == nil, running.isEmpty,
      available > volumes[download.volume]?.tried[download.recordID] ?? Self.reserve
    else { return false }
    volumes[download.volume]?.tried[download.recordID] = available
    return true
  }

  /// Compares a download with the free space that the running downloads to its volume leave.
  ///
  /// - Parameters:
  ///   - missing: The download's missing bytes; `nil` when its size is unknown.
  ///   - running: The missing bytes of the running downloads.
  ///   - available: The free space, in bytes.
  /// - Returns: Whether it fits.
  static func fits(_ missing: Int64?, beside running: [Int64?], available: Int64) -> Bool {
    let promised = running.reduce(0 as Int64) { sum, missing in
      let (total, isOver) = sum.addingReportingOverflow(missing ?? usualSize)
      return isOver ? .max : total
    }
    let (needed, isOver) = promised.addingReportingOverflow((missing ?? usualSize))
    return !isOver && needed <= available - reserve
  }
}
