/// The options for opening an environment.
///
/// Processes that share a file may use different options.
///
/// ```swift
/// let options = EnvironmentOptions(isReadOnly: true, checksPages: true)
/// let environment = try Environment.open("/var/lib/notes", options: options)
/// ```
public struct EnvironmentOptions: Sendable, Hashable {
  /// The address space to reserve for the file, in bytes; the file itself grows as data is written.
  ///
  /// The value is halved until the system grants it, and doubled automatically when the file
  /// approaches it.
  public var mapSize: Int
  /// The maximum number of simultaneous read transactions, over all processes.
  ///
  /// The process that opens the environment while no other has it open decides the number; for the
  /// others this option has no effect.
  public var maximumReaders: Int
  /// The maximum number of named databases.
  public var maximumDatabases: Int
  /// Whether to open the environment read-only.
  ///
  /// The file must exist.
  public var isReadOnly: Bool
  /// Whether to open the environment read-only and without the lock file, for a file that no process
  /// changes while it is open.
  ///
  /// The only way to read an environment on a read-only file system, where a reader cannot register
  /// in the lock file. If a process does write the file, reads fail with `corrupted`, return wrong
  /// data, or end the process.
  public var isImmutable: Bool
  /// Whether to check every page when the file is opened, even if only commits have changed it
  /// since the last check.
  ///
  /// The check finds pages that a failing disk has changed. It takes time proportional to the size
  /// of the file. It has no effect if this process already has the environment open.
  public var checksPages: Bool
  /// The permission bits of files that are created.
  public var fileMode: UInt32

  /// Creates options for opening an environment.
  public init(
    mapSize: Int = Self.defaultMapSize,
    maximumReaders: Int = 1_022,
    maximumDatabases: Int = 256,
    isReadOnly: Bool = false,
    isImmutable: Bool = false,
    checksPages: Bool = false,
    fileMode: UInt32 = 0o600
  ) {
    self.mapSize = mapSize
    self.maximumReaders = maximumReaders
    self.maximumDatabases = maximumDatabases
    self.isReadOnly = isReadOnly
    self.isImmutable = isImmutable
    self.checksPages = checksPages
    self.fileMode = fileMode
  }

  /// 256 GiB on 64-bit Linux and macOS, otherwise 1 GiB.
  public static var defaultMapSize: Int {
    #if os(Linux) || os(macOS)
      MemoryLayout<Int>.size == 8 ? 256 << 30 : 1 << 30
    #else
      1 << 30
    #endif
  }
}
