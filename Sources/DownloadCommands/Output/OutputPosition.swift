internal import CommandLineSupport
internal import Foundation
internal import SystemInterface

/// The bytes that `get -o -` has written to standard output, over all workers of a command.
///
/// Their number is the offset of a file without a name: the supervisor and its workers share it, so a
/// worker that follows a crash goes on with the next byte. The file contains the digest of these bytes
/// and of those that were to follow, so that this worker notices another version of the download.
struct OutputPosition: Sendable {
  /// The descriptor of the file in a worker.
  static let workerDescriptor: Int32 = 4

  /// `nil` without a supervisor.
  private let descriptor: Int32?

  /// The position of this process's supervisor; a command without one starts at the first byte.
  static func ofWorker() -> Self {
    guard Worker.current != nil else { return Self(descriptor: nil) }
    // Commands of the user must not inherit it.
    _ = fcntl(workerDescriptor, F_SETFD, FD_CLOEXEC)
    return Self(descriptor: workerDescriptor)
  }

  /// Creates the file of a supervisor.
  ///
  /// - Returns: A descriptor that `exec` closes.
  /// - Throws: ``CommandFailure``.
  static func create() throws -> Int32 {
    let file = UnnamedFile.create()
    guard file >= 0 else {
      throw CommandFailure(
        SystemCall.status(),
        "cannot create a file in \(UnnamedFile.folder.path): \(systemErrorText())"
      )
    }
    defer { close(file) }
    // Above the descriptors of a worker, which are made from others one after the other.
    return fcntl(file, F_DUPFD_CLOEXEC, 10)
  }

  /// The number of bytes.
  var value: Int64 { descriptor.map { max(0, Int64(lseek($0, 0, SEEK_CUR))) } ?? 0 }

  /// Notes bytes that were written.
  func advance(by count: Int) {
    if let descriptor { _ = lseek(descriptor, off_t(count), SEEK_CUR) }
  }

  /// Notes the first bytes of the download up to the end of those that are written next.
  func announce(_ bytes: PipedBytes.Prefix) {
    guard let descriptor else { return }
    // One write, which a crash of another thread does not divide.
    _ = pwrite(descriptor, bytes.encoded.span, at: 0)
  }

  /// The bytes that were announced last; `nil` if none were, or if they cannot be read.
  var announced: PipedBytes.Prefix? {
    descriptor.flatMap {
      PipedBytes.Prefix(encoded: bytes(ofFile: $0, at: 0, count: PipedBytes.Prefix.encodedLength))
    }
  }
}
