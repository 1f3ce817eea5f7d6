/// Which volumes have run out of room, when to look again, and what may start where there is some.
///
/// A volume is trusted until a write on it fails. It is full then, until a look finds room; and
/// careful, with each start weighed against the room that is left, until nobody waits for more.
struct VolumeRoom: Sendable {
  private enum Status {
    case full
    case careful
  }

  private struct Volume {
    var status: Status
    /// A folder on it.
    var folder: String
    var lastLook: ContinuousClock.Instant
  }

  /// What is left for others, in bytes: a file system is slow and its users are stuck at its end.
  static let reserve: Int64 = 1 << 20
  /// What is thought to be missing of a download whose size is not known, in bytes.
  static let usualSize: Int64 = 16 << 20

  private var volumes: [UInt64: Volume] = [:]

  /// Whether some volume is watched.
  var isEmpty: Bool { volumes.isEmpty }

  /// A write has failed for want of room.
  mutating func fill(_ volume: UInt64, folder: String, at moment: ContinuousClock.Instant) {
    volumes[volume] = Volume(status: .full, folder: folder, lastLook: moment)
  }

  /// The volumes to look at now, each with a folder on it, which then count as looked at.
  mutating func due(
    at moment: ContinuousClock.Instant,
    interval: Duration
  ) -> [(volume: UInt64, folder: String)] {
    volumes.keys.sorted().compactMap { key in
      guard let volume = volumes[key], volume.lastLook.duration(to: moment) >= interval else {
        return nil
      }
      volumes[key]?.lastLook = moment
      return (key, volume.folder)
    }
  }

  /// Notes how much room a look has found.
  ///
  /// - Parameters:
  ///   - available: The bytes that may be written, in a folder of the volume.
  ///   - volume: The volume.
  ///   - isAwaited: Whether somebody was put aside for want of room.
  /// - Returns: Whether something may start there.
  mutating func note(_ available: Int64, on volume: UInt64, isAwaited: Bool) -> Bool {
    switch volumes[volume]?.status {
    case nil:
      return true
    case .full:
      guard available > Self.reserve else { return false }
      volumes[volume]?.status = .careful
      return true
    case .careful:
      if !isAwaited { volumes[volume] = nil }
      return true
    }
  }

  /// The folder in which to look before something starts on the volume; `nil` where starts need no
  /// look.
  func folder(toLookAtOn volume: UInt64) -> String? { volumes[volume]?.folder }

  /// Weighs a download against the room that those which run on its volume leave.
  ///
  /// - Parameters:
  ///   - missing: The bytes that it lacks; `nil` when its size is not known.
  ///   - running: The same of those that run there.
  ///   - available: The bytes that may be written.
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
