/// How an environment is opened.
///
/// Processes that share a file may open it with different options.
public struct EnvironmentOptions: Sendable, Hashable {
  /// The address space reserved for the file, in bytes; the file itself grows as it is written.
  ///
  /// It is halved while the system refuses to reserve so much, and doubled by itself when the file
  /// comes near it.
  public var mapSize: Int
  /// The most read transactions that may be open at one time, over all processes.
  ///
  /// The process that opens the environment while no other has it open decides. The others get that
  /// number whatever they ask for.
  public var maximumReaders: Int
  /// The most named databases in the file.
  public var maximumDatabases: Int
  /// Opens without the right to write.
  ///
  /// The file must exist.
  public var isReadOnly: Bool
  /// Checks every page when the file is opened, also when only commits have changed it since the last
  /// check.
  ///
  /// Finds what a failing disk has changed. Without an effect when the process has the environment
  /// open already.
  public var checksPages: Bool
  /// Permission bits of files that are created.
  public var fileMode: UInt32

  /// Describes how to open an environment.
  public init(
    mapSize: Int = Self.defaultMapSize,
    maximumReaders: Int = 1_022,
    maximumDatabases: Int = 256,
    isReadOnly: Bool = false,
    checksPages: Bool = false,
    fileMode: UInt32 = 0o600
  ) {
    self.mapSize = mapSize
    self.maximumReaders = maximumReaders
    self.maximumDatabases = maximumDatabases
    self.isReadOnly = isReadOnly
    self.checksPages = checksPages
    self.fileMode = fileMode
  }

  /// 256 GiB where address space is plentiful, 1 GiB on systems that ration it to apps.
  public static var defaultMapSize: Int {
    #if os(Linux) || os(macOS)
      MemoryLayout<Int>.size == 8 ? 256 << 30 : 1 << 30
    #else
      1 << 30
    #endif
  }
}
