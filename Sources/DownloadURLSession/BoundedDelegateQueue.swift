internal import Dispatch
internal import Foundation
internal import SystemInterface

#if canImport(FoundationNetworking)
  /// The serial delegate queue of the session, with a bounded number of waiting blocks.
  ///
  /// On Linux the session reads from the network as fast as it can and queues a block for each
  /// chunk of up to 16 KiB without bound: with a slow sink the whole body would end up in memory.
  /// With this queue the session has to wait for a free slot, stops reading, and TCP slows the
  /// server down. It relies on the session calling ``addOperation(_:)`` for every callback, as it
  /// does up to 6.3.
  ///
  /// `@unchecked` because the superclass is; the added properties are immutable and thread-safe.
  final class DelegateQueue: OperationQueue, @unchecked Sendable {
    /// The number of slots: at most one MiB in chunks.
    private static let slotCount = 64

    private let slots = DispatchSemaphore(value: slotCount)
    private let queue = DispatchQueue(label: "URLSessionTransport.delegate")
    private let key = DispatchSpecificKey<Bool>()

    // Per process, not per queue: all sessions of a process read on one thread, so a wait for a
    // slot delays all of them.
    private static let waitsBegun = Atomic(0)
    private static let waitsEnded = Atomic(0)

    override init() {
      super.init()
      queue.setSpecific(key: key, value: true)
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      // The queue's own thread must not wait for a slot that only it can free.
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

    /// Appends a block that needs no slot; does not wait.
    func runAfterPending(_ block: @escaping @Sendable () -> Void) {
      queue.async(execute: block)
    }

    /// Whether reading waited for a slot since the last call.
    ///
    /// `lastCount` holds the caller's state; start with zero.
    func wasHeldUp(since lastCount: inout Int) -> Bool {
      let ended = Self.waitsEnded.load(ordering: .sequentiallyConsistent)
      let begun = Self.waitsBegun.load(ordering: .sequentiallyConsistent)
      defer { lastCount = begun }
      return begun != lastCount || begun != ended
    }
  }
#else
  /// The serial delegate queue of the session, which bounds its own backlog.
  ///
  /// `@unchecked` because the superclass is; nothing is added here.
  final class DelegateQueue: OperationQueue, @unchecked Sendable {
    override init() {
      super.init()
      maxConcurrentOperationCount = 1
    }

    /// Appends a block; does not wait.
    func runAfterPending(_ block: @escaping @Sendable () -> Void) {
      addOperation(block)
    }

    /// Whether reading waited since the last call; not known on this platform.
    func wasHeldUp(since lastCount: inout Int) -> Bool { false }
  }
#endif
