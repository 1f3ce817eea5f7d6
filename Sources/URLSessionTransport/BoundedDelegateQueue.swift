internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  /// The serial queue of the session's callbacks, with a bound on how many may wait.
  ///
  /// On Linux the session reads from the network as fast as it can and queues a block for each chunk
  /// of up to 16 KiB, without bound: a slow sink would end up with the whole body in memory. Here the
  /// session's own queue has to wait for a free slot, so it stops reading, and TCP tells the server.
  /// It relies on the session calling ``addOperation(_:)`` for every callback, as it does up to 6.3.
  ///
  /// `@unchecked` because the superclass is: what is added here is immutable and thread-safe.
  final class DelegateQueue: OperationQueue, @unchecked Sendable {
    /// One MiB at most, in chunks.
    private static let slotCount = 64

    private let slots = DispatchSemaphore(value: slotCount)
    private let queue = DispatchQueue(label: "URLSessionTransport.delegate")
    private let key = DispatchSpecificKey<Bool>()

    // For the process, not for the queue: all sessions of a process read on one thread, so one that
    // waits for a slot holds up every other.
    private static let waitsBegun = Atomic(0)
    private static let waitsEnded = Atomic(0)

    override init() {
      super.init()
      queue.setSpecific(key: key, value: true)
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      // The queue's own thread must not wait for a slot: only itself could free one.
      guard DispatchQueue.getSpecific(key: key) == nil else { return queue.async(execute: block) }
      if slots.wait(timeout: .now()) == .timedOut {
        Self.waitsBegun.add(1, ordering: .sequentiallyConsistent)
        slots.wait()
        Self.waitsEnded.add(1, ordering: .sequentiallyConsistent)
      }
      queue.async { [slots] in
        block()
        slots.signal()
      }
    }

    /// Runs a block behind those that wait, without a slot and without waiting.
    func runAfterPending(_ block: @escaping @Sendable () -> Void) {
      queue.async(execute: block)
    }

    /// Whether reading was held up for lack of a slot at some time since this was asked last.
    ///
    /// `lastCount` is the caller's memory, zero at first.
    func wasHeldUp(since lastCount: inout Int) -> Bool {
      let ended = Self.waitsEnded.load(ordering: .sequentiallyConsistent)
      let begun = Self.waitsBegun.load(ordering: .sequentiallyConsistent)
      defer { lastCount = begun }
      return begun != lastCount || begun != ended
    }
  }
#else
  /// The serial queue of the session's callbacks.
  ///
  /// The session itself keeps what waits in bounds.
  ///
  /// `@unchecked` because the superclass is; nothing is added here.
  final class DelegateQueue: OperationQueue, @unchecked Sendable {
    override init() {
      super.init()
      maxConcurrentOperationCount = 1
    }

    /// Runs a block behind those that wait, without waiting.
    func runAfterPending(_ block: @escaping @Sendable () -> Void) {
      addOperation(block)
    }

    /// Whether reading was held up since this was asked last: not known here.
    func wasHeldUp(since lastCount: inout Int) -> Bool { false }
  }
#endif
