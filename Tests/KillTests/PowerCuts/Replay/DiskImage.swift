/// The files and folders below a folder at one moment.
public struct DiskImage: Sendable, Hashable {
  /// A file of an image.
  public struct File: Sendable, Hashable {
    /// The inode number of the file in the recorded run.
    public var inode: UInt64
    /// The bytes.
    public var bytes: [UInt8]
    /// The modification time, in nanoseconds since 1970.
    public var modified: Int64

    /// Creates a file.
    public init(inode: UInt64, bytes: [UInt8], modified: Int64) {
      self.inode = inode
      self.bytes = bytes
      self.modified = modified
    }
  }

  /// The files by path.
  public var files: [String: File] = [:]
  /// The paths of the folders.
  public var folders: Set<String> = []

  /// Creates an empty image.
  public init() {}
}
