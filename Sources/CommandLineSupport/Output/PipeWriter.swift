internal import Dispatch
package import Foundation
internal import SystemInterface

/// Writes bytes to a descriptor whose reader may be slow, without holding up other tasks.
package final class PipeWriter: Sendable {
  private let descriptor: Int32
  /// A serial queue has a thread of its own while it has work.
  private let queue = DispatchQueue(label: "dlstore.output")
  private let stop = StopLatch()
  /// The maximum number of bytes that one write to a pipe takes without blocking.
  private let step: Int

  /// How often a write that waits for the reader looks whether it was cancelled, in milliseconds.
  private static let patience: Int32 = 100

  /// Creates a writer, by default to standard output.
  package init(_ descriptor: Int32 = STDOUT_FILENO) {
    self.descriptor = descriptor
    var status = stat()
    let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    step = isRegular ? .max : Int(PIPE_BUF)
  }

  /// Writes bytes, and waits until the descriptor has taken them.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - note: Called after each part with its length.
  /// - Throws: ``ClosedPipe`` if the reader closed the pipe; ``CommandFailure`` with `inputOutput`;
  ///   `CancellationError`. After one of these, no more bytes are written.
  package func write(_ bytes: Data, _ note: @escaping @Sendable (Int) -> Void) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [self] in
          continuation.resume(with: Result { try writeNow(bytes, note) })
        }
      }
    } onCancel: {
      stop.stop()
    }
  }

  private func writeNow(_ bytes: Data, _ note: (Int) -> Void) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let ready = poll(&wait, Self.patience)
      if stop.isStopped { throw CancellationError() }
      if ready == 0 || (ready < 0 && errno == EINTR) { continue }
      // A pipe that can be written to takes that many bytes, so the write does not block.
      let part = rest.prefix(step)
      let count = SystemInterface.write(descriptor, part.span)
      if count >= 0 {
        note(count)
        rest = rest.dropFirst(count)
      } else if errno == EPIPE {
        throw ClosedPipe()
      } else if errno != EINTR, errno != EAGAIN {
        throw CommandFailure(.inputOutput, "cannot write the output: \(systemErrorText())")
      }
    }
  }
}
