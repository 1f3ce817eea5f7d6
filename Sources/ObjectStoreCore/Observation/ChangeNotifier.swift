internal import Dispatch
internal import LMDB
internal import SystemInterface

/// Notifies other processes of commits by writing to the file `changes` in the store's folder.
///
/// Watching the data file instead would not work: its file system events precede the visibility of
/// the commit.
final class ChangeNotifier: Sendable {
  let path: String
  /// Negative if the file cannot be written.
  ///
  /// Observers in other processes then detect commits by polling once a second.
  private let descriptor: Int32

  /// Opens the file, and creates it if it is missing.
  init(folder: String, isReadOnly: Bool) {
    path = folder + "/changes"
    let flags = O_WRONLY | O_CREAT
    descriptor =
      isReadOnly ? -1 : (try? StoreFile.open("changes", in: folder, flags: flags)) ?? -1
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Notifies the watchers of other processes.
  ///
  /// Costs about a microsecond and does not wait for the disk. Errors are ignored, because watchers
  /// also poll.
  func notify() {
    guard descriptor >= 0 else { return }
    _ = pwrite(descriptor, [1].span, at: 0)
  }
}

/// Calls a closure when a ``ChangeNotifier`` writes to its file, until the watcher is released.
///
/// Also calls it once a second, in case a writer was killed after its commit but before it
/// notified.
final class ChangeWatcher: Sendable {
  private static let queue = DispatchQueue(label: "ObjectStore.watch")
  /// The time between two polls in seconds.
  ///
  /// A test that proves that a watcher needs no poll sets another one in a process of its own.
  static let pollInterval = Mutex(1.0)

  // The sources are only cancelled after `init`, which any thread may do.
  private struct Sources: @unchecked Sendable {
    let timer: any DispatchSourceTimer
    let file: (any DispatchSourceProtocol)?
  }

  private let sources: Sources

  /// Watches the file `path`.
  ///
  /// If the system refuses a file watch, only polls.
  init(_ path: String, onChange: @escaping @Sendable () -> Void) {
    let timer = DispatchSource.makeTimerSource(queue: Self.queue)
    sources = Sources(timer: timer, file: Self.source(path, onChange))
    let interval = Self.pollInterval.withLock { $0 }
    timer.schedule(
      deadline: .now() + interval,
      repeating: interval,
      leeway: .milliseconds(100)
    )
    timer.setEventHandler(handler: onChange)
    timer.activate()
  }

  deinit {
    sources.timer.cancel()
    sources.file?.cancel()
  }

  #if canImport(Darwin)
    private static func source(
      _ path: String,
      _ onChange: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? {
      let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor,
        eventMask: [.write, .attrib],
        queue: queue
      )
      source.setEventHandler(handler: onChange)
      source.setCancelHandler { close(descriptor) }
      source.activate()
      return source
    }
  #else
    private static func source(
      _ path: String,
      _ onChange: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      guard watchContents(descriptor, ofFile: path) >= 0 else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler {
        // Discard the events; only their arrival matters.
        var events = [UInt8](repeating: 0, count: 4_096)
        while read(descriptor, into: &events) > 0 {}
        onChange()
      }
      source.setCancelHandler { close(descriptor) }
      source.activate()
      return source
    }
  #endif
}
