public import Foundation
internal import SystemInterface

extension Process {
  /// Starts the program; like `run()`, also in a process with many open files.
  ///
  /// On Linux, `run()` looks for the largest descriptor in `/proc/self/fd`, and reads 256 bytes for
  /// each name there, however short it is. From about 1,360 descriptors on, the entries fill the
  /// buffer of `opendir`, and it reads beyond that: a segmentation fault if the heap ends there.
  /// Suites whose tests run at once hold several descriptors for each open store.
  ///
  /// One process starts at a time. `run()` gives a program one end of a pair of sockets, and waits until
  /// nobody has that end; a program that another thread starts at the same time would inherit it.
  ///
  /// - Throws: The error of `run()`.
  public func start() throws {
    _ = Self.separateLargeBuffers
    try Self.starts.withLock { _ in try run() }
  }

  /// Held while a process starts.
  private static let starts = Mutex(())

  /// Starts the program, and waits for its end; see ``waitForEnd()``.
  ///
  /// - Throws: The error of `run()`, or `CancellationError`.
  public func runToEnd() async throws {
    try start()
    try await waitForEnd()
  }

  /// Waits for the end of the program, without blocking a thread of the pool, which other tests need.
  ///
  /// - Throws: `CancellationError` if the test was cancelled, for example by its time limit; then the
  ///   program is killed.
  public func waitForEnd() async throws {
    do {
      while isRunning { try await Task.sleep(for: .milliseconds(2)) }
    } catch {
      kill(processIdentifier, SIGKILL)
      throw error
    }
  }

  /// Lets `malloc` map the buffer of `opendir`, 32 KiB and a header, separately.
  ///
  /// The rest of its last page, most of 4 KiB, follows the buffer then.
  private static let separateLargeBuffers: Void = {
    #if os(Linux)
      typealias SetOption = @convention(c) (Int32, Int32) -> Int32
      // Not in Swift's module of the C library, and not in every C library.
      guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
      // M_MMAP_THRESHOLD
      _ = unsafe unsafeBitCast(symbol, to: SetOption.self)(-3, 32 << 10)
    #endif
  }()
}
