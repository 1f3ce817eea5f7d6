internal import Dispatch
internal import DownloadStore
internal import ObjectStore
internal import SystemInterface

/// Calls a closure when the engine of a store may have ended, until the watch is released.
///
/// An engine that ends, also by a kill, closes the lock file; the system notifies watchers of that.
/// A platform without such a notification, and an engine without a lock file, need a poll.
final class EngineLockWatch: Sendable {
  #if os(Linux)
    // Only cancelled after `init`, which any thread may do.
    private struct Source: @unchecked Sendable {
      let value: any DispatchSourceRead
    }

    private let source: Source?
    /// Whether the system reports the end of an engine.
    var isActive: Bool { source != nil }

    /// Watches the lock file in the folder of a store.
    init(storePath: String, onChange: @escaping @Sendable () -> Void) {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard descriptor >= 0,
        watchClosing(descriptor, ofFile: "\(storePath)/\(EngineLock.name)") >= 0
      else {
        if descriptor >= 0 { close(descriptor) }
        source = nil
        return
      }
      let source = DispatchSource.makeReadSource(
        fileDescriptor: descriptor,
        queue: DispatchQueue(label: "DownloadSync.lock")
      )
      source.setEventHandler {
        // Discard the events; only their arrival matters.
        var events = [UInt8](repeating: 0, count: 4_096)
        while read(descriptor, into: &events) > 0 {}
        onChange()
      }
      source.setCancelHandler { close(descriptor) }
      source.activate()
      self.source = Source(value: source)
    }

    deinit {
      source?.value.cancel()
    }
  #else
    let isActive = false

    /// Watches nothing.
    init(storePath: String, onChange: @escaping @Sendable () -> Void) {}
  #endif
}
