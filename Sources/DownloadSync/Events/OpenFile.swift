internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// A file that is open for reading.
final class OpenFile: Sendable {
  private let descriptor: Int32

  /// Opens a file; `nil` if it does not exist.
  ///
  /// - Throws: `RecordStoreError` with `fileSystem`.
  init?(at path: String) throws {
    descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor < 0 else { return }
    if errno == ENOENT { return nil }
    throw RecordStoreError(.fileSystem, "opening \(path): \(systemErrorText())")
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// The inode number.
  var number: UInt64? { FileIdentity(ofDescriptor: descriptor)?.inode }

  /// Returns the bytes of a range; `nil` if the file has not all of them.
  func bytes(in range: Range<Int64>) -> Data? {
    let count = range.count
    let bytes = SystemInterface.bytes(
      ofFile: descriptor,
      at: Int(range.lowerBound),
      count: count
    )
    return bytes.count == count ? Data(bytes) : nil
  }
}
