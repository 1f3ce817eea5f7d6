#if os(Linux)
  import Foundation
  import SystemInterface

  /// A small in-memory file system (tmpfs), which is unmounted when the value is released.
  public final class SmallDisk: Sendable {
    /// The mount point.
    public let path: String

    /// Whether this process may mount a file system.
    ///
    /// Root may, but not in every container.
    public static let isAvailable = SmallDisk(kilobytes: 64) != nil

    /// Mounts a file system.
    ///
    /// Returns `nil` if this process may not mount.
    public init?(kilobytes: Int) {
      path =
        FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appending(path: "dlstore-tests-\(UUID().uuidString)-disk").path
      try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
        try? FileManager.default.removeItem(atPath: path)
        return nil
      }
    }

    /// Makes the file system read-only; returns whether that was possible.
    public func makeReadOnly() -> Bool {
      unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0
    }

    deinit {
      _ = unsafe umount2(path, Int32(MNT_DETACH))
      try? FileManager.default.removeItem(atPath: path)
    }
  }
#endif
