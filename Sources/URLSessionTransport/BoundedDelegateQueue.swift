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
    private let hasBeenFull = Atomic(false)

    override init() {
      super.init()
      queue.setSpecific(key: key, value: true)
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      // The queue's own thread must not wait for a slot: only itself could free one.
      guard DispatchQueue.getSpecific(key: key) == nil else { return queue.async(execute: block) }
      if slots.wait(timeout: .now()) == .timedOut {
        hasBeenFull.store(true, ordering: .relaxed)
        slots.wait()
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

    /// Whether the session had to wait for a slot since this was asked last.
    func wasFull() -> Bool {
      hasBeenFull.exchange(false, ordering: .relaxed)
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

    /// Whether the session had to wait since this was asked last: not known here.
    func wasFull() -> Bool { false }
  }
#endif
