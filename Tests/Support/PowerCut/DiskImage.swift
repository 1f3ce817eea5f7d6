/// The files and folders below a folder at one moment.
public struct DiskImage: Sendable, Hashable {
  /// One file.
  public struct File: Sendable, Hashable {
    /// The number that the file had in the recorded run.
    public var inode: UInt64
    /// The bytes.
    public var bytes: [UInt8]
    /// When the bytes last changed, in nanoseconds since 1970.
    public var modified: Int64

    /// Describes a file.
    public init(inode: UInt64, bytes: [UInt8], modified: Int64) {
      self.inode = inode
      self.bytes = bytes
      self.modified = modified
    }
  }

  /// The files by their paths.
  public var files: [String: File] = [:]
  /// The paths of the folders.
  public var folders: Set<String> = []

  /// No files.
  public init() {}
}
