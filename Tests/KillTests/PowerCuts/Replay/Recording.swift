public import Foundation

/// One recorded system call.
public struct SystemCall: Sendable, Hashable {
  /// The change that a call made.
  public enum Change: Sendable, Hashable {
    /// A file was opened under a path, and created if missing.
    case open(path: String, inode: UInt64)
    /// Bytes were written; durable when the call returns if the descriptor has `O_DSYNC`.
    case write(inode: UInt64, offset: Int, bytes: [UInt8], isDurable: Bool)
    /// A file was truncated or extended.
    case truncate(inode: UInt64, size: Int)
    /// The modification time of a file was set.
    case touch(inode: UInt64)
    /// A sync of a file began.
    ///
    /// It covers the writes before it.
    case syncBegan(inode: UInt64, path: String)
    /// A sync of a file returned.
    case syncEnded(inode: UInt64, path: String)
    /// A sync of a folder began.
    case folderSyncBegan(path: String)
    /// A sync of a folder returned.
    case folderSyncEnded(path: String)
    /// A second name of a file was created.
    case link(old: String, new: String)
    /// A file was renamed, replacing a file at the new name.
    case rename(old: String, new: String)
    /// A file name or an empty folder was removed.
    case unlink(path: String)
    /// A folder was created.
    case makeFolder(path: String)
  }

  /// The change that the call made.
  public var change: Change
  /// The thread of the call, which distinguishes concurrent syncs.
  public var thread: UInt64
  /// The modification time of the file after the call, in nanoseconds since 1970.
  public var modified: Int64

  /// The end of the call's record in the recording, in bytes.
  public var end: Int

  /// Creates a system call.
  public init(_ change: Change, thread: UInt64 = 0, modified: Int64 = 0, end: Int = 0) {
    self.change = change
    self.thread = thread
    self.modified = modified
    self.end = end
  }
}

/// The system calls of a run, as `recorder.c` writes them.
public enum Recording {
  /// A recording that cannot be parsed, or that contains an unsupported call.
  public struct Unreadable: Error, CustomStringConvertible {
    /// The reason.
    public let description: String
  }

  /// The size of a record's fixed part.
  private static let headerSize = 56

  /// Parses a recording.
  ///
  /// - Throws: ``Unreadable``.
  public static func calls(in data: Data) throws -> [SystemCall] {
    let bytes = [UInt8](data)
    var calls: [SystemCall] = []
    var position = 0
    while position < bytes.count {
      guard position + headerSize <= bytes.count else {
        throw Unreadable(description: "the recording ends inside a record")
      }
      func integer<T: FixedWidthInteger>(_ offset: Int, _: T.Type) -> T {
        (0..<MemoryLayout<T>.size).reversed().reduce(0) { value, index in
          value << 8 | T(truncatingIfNeeded: bytes[position + offset + index])
        }
      }
      let operation = integer(0, UInt32.self)
      let flags = integer(4, UInt32.self)
      let inode = integer(8, UInt64.self)
      let offset = Int(integer(16, Int64.self))
      let modified = integer(24, Int64.self)
      let thread = integer(32, UInt64.self)
      let sizes = [Int(integer(40, UInt32.self)), Int(integer(44, UInt32.self))]
      let dataSize = Int(integer(48, UInt64.self))
      position += headerSize
      guard position + sizes[0] + sizes[1] + dataSize <= bytes.count else {
        throw Unreadable(description: "the recording ends inside a record")
      }
      func take(_ count: Int) -> ArraySlice<UInt8> {
        defer { position += count }
        return bytes[position..<position + count]
      }
      let path = String(decoding: take(sizes[0]), as: UTF8.self)
      let second = String(decoding: take(sizes[1]), as: UTF8.self)
      let data = take(dataSize)
      let isFolder = flags & 2 != 0
      let change: SystemCall.Change
      switch operation {
      case 1: change = .open(path: path, inode: inode)
      case 2:
        change = .write(
          inode: inode,
          offset: offset,
          bytes: Array(data),
          isDurable: flags & 1 != 0
        )
      case 3: change = .truncate(inode: inode, size: offset)
      case 4:
        change = isFolder ? .folderSyncBegan(path: path) : .syncBegan(inode: inode, path: path)
      case 5:
        change = isFolder ? .folderSyncEnded(path: path) : .syncEnded(inode: inode, path: path)
      case 6: change = .link(old: path, new: second)
      case 7: change = .rename(old: path, new: second)
      case 8: change = .unlink(path: path)
      case 9: change = .makeFolder(path: path)
      case 11: change = .touch(inode: inode)
      default:
        throw Unreadable(description: "\(path): call \(operation) is not supported")
      }
      calls.append(SystemCall(change, thread: thread, modified: modified, end: position))
    }
    return calls
  }
}
