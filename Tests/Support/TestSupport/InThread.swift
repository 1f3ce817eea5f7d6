internal import Foundation

/// Runs `body` on its own thread; the stream gives its result or its error.
///
/// Test functions and tasks share a pool with as many threads as the machine has processors. A body
/// that waits for another process, or that must run at the same time as others, gets a thread here:
/// a pool without a free thread would deadlock. `stackSize` is in bytes; `nil` is the system's.
public func inThread<R: Sendable>(
  stackSize: Int? = nil,
  _ body: @escaping @Sendable () throws -> R
) -> AsyncThrowingStream<R, any Error> {
  let (stream, continuation) = AsyncThrowingStream<R, any Error>.makeStream()
  let thread = Thread {
    do {
      continuation.yield(try body())
      continuation.finish()
    } catch {
      continuation.finish(throwing: error)
    }
  }
  if let stackSize { thread.stackSize = stackSize }
  thread.start()
  return stream
}
