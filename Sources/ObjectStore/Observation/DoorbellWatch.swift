internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Looks whenever the doorbell rings, and once a second in case a writer was killed between its
/// commit and the ring, until the value goes.
final class DoorbellWatch: Sendable {
  private static let queue = DispatchQueue(label: "ObjectStore.watch")
  private static let interval = 1.0

  // Dispatch sources may be cancelled from any thread, and nothing else is done with them here.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer
  private nonisolated(unsafe) let bell: (any DispatchSourceProtocol)?

  /// Watches the file `path`; where the system grants no watch, only the clock counts.
  init(_ path: String, look: @escaping @Sendable () -> Void) {
    unsafe bell = Self.source(path, look)
    unsafe timer = DispatchSource.makeTimerSource(queue: Self.queue)
    unsafe timer.schedule(
      deadline: .now() + Self.interval,
      repeating: Self.interval,
      leeway: .milliseconds(100)
    )
    unsafe timer.setEventHandler(handler: look)
    unsafe timer.activate()
  }

  deinit {
    unsafe timer.cancel()
    unsafe bell?.cancel()
  }

  #if canImport(Darwin)
    private static func source(
      _ path: String,
      _ look: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? {
      let descriptor = unsafe open(path, O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor,
        eventMask: [.write, .attrib],
        queue: queue
      )
      source.setEventHandler(handler: look)
      source.setCancelHandler { close(descriptor) }
      source.activate()
      return source
    }
  #else
    private static func source(
      _ path: String,
      _ look: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      guard unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler {
        // What the events say is of no interest, only that there were some.
        var events = [UInt8](repeating: 0, count: 4_096)
        while unsafe read(descriptor, &events, events.count) > 0 {}
        look()
      }
      source.setCancelHandler { close(descriptor) }
      source.activate()
      return source
    }
  #endif
}
