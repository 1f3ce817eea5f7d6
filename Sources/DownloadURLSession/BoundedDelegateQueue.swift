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
  /// A thread that is woken for each chunk costs more than the chunk. So a busy queue waits for
  /// half of the slots, or for a millisecond, and then runs all waiting blocks. It does not wait
  /// after the head or the end of a task: with many small files that would delay each of them.
  ///
  /// `@unchecked` because the superclass is; the added properties are immutable and thread-safe.
  final class DelegateQueue: OperationQueue, @unchecked Sendable {
    private struct Entry {
      var block: @Sendable () -> Void
      var hasSlot: Bool
    }

    private struct State {
      var entries: [Entry] = []
      /// Whether a thread runs blocks, or is about to.
      var isRunning = false
      /// Whether that thread waits for a batch.
      var awaitsBatch = false
    }

    /// The number of slots: at most one MiB in chunks.
    private static let slotCount = 64
    /// The number of blocks for which a busy queue waits.
    private static let batchLength = slotCount / 2
    /// The longest wait for a batch.
    private static let batchWait = DispatchTimeInterval.milliseconds(1)

    private let slots = DispatchSemaphore(value: slotCount)
    private let batches = DispatchSemaphore(value: 0)
    private let queue = DispatchQueue(label: "URLSessionTransport.delegate")
    private let key = DispatchSpecificKey<Bool>()
    // Held to append or take blocks; never while one runs.
    private let state = Mutex(State())
    private let busy = Atomic(false)
    /// The number of chunks among the blocks that have run since the last batch.
    private let chunkCount = Atomic(0)
    private let onBatchEnd: @Sendable () -> Void

    // Per process, not per queue: all sessions of a process read on one thread, so a wait for a
    // slot delays all of them.
    private static let waitsBegun = Atomic(0)
    private static let waitsEnded = Atomic(0)

    /// Creates a queue.
    ///
    /// - Parameter onBatchEnd: Called on the queue whenever all blocks that were waiting have run.
    init(onBatchEnd: @escaping @Sendable () -> Void = {}) {
      self.onBatchEnd = onBatchEnd
      super.init()
      queue.setSpecific(key: key, value: true)
    }

    /// Whether blocks arrive so fast that ``onBatchEnd`` follows within a millisecond or two.
    var isBusy: Bool { busy.load(ordering: .relaxed) }

    /// Notes that the current block passes on a chunk of a body.
    func noteChunk() {
      chunkCount.add(1, ordering: .relaxed)
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      // The queue's own thread must not wait for a slot that only it can free.
      guard DispatchQueue.getSpecific(key: key) == nil else { return runAfterPending(block) }
      if slots.wait(timeout: .now()) == .timedOut {
        Self.waitsBegun.add(1, ordering: .sequentiallyConsistent)
        slots.wait()
        Self.waitsEnded.add(1, ordering: .sequentiallyConsistent)
      }
      append(Entry(block: block, hasSlot: true))
    }

    /// Appends a block that needs no slot; does not wait.
    func runAfterPending(_ block: @escaping @Sendable () -> Void) {
      append(Entry(block: block, hasSlot: false))
    }

    private func append(_ entry: Entry) {
      let (isIdle, completesBatch) = state.withLock { state in
        state.entries.append(entry)
        let completesBatch = state.awaitsBatch && state.entries.count >= Self.batchLength
        if completesBatch { state.awaitsBatch = false }
        defer { state.isRunning = true }
        return (!state.isRunning, completesBatch)
      }
      if isIdle { queue.async { self.run() } }
      if completesBatch { batches.signal() }
    }

    /// Runs blocks until none is left.
    private func run() {
      var pace = BlockPace()
      while let entries = take() {
        for entry in entries {
          entry.block()
          if entry.hasSlot { slots.signal() }
        }
        onBatchEnd()
        let isBusy = pace.isBusy(
          after: entries.count,
          chunkCount: chunkCount.exchange(0, ordering: .relaxed),
          at: .now
        )
        busy.store(isBusy, ordering: .relaxed)
        if isBusy { awaitBatch() }
      }
    }

    /// Removes and returns the waiting blocks; `nil` ends the run.
    private func take() -> [Entry]? {
      state.withLock { state in
        guard !state.entries.isEmpty else {
          state.isRunning = false
          return nil
        }
        defer { state.entries = [] }
        return state.entries
      }
    }

    private func awaitBatch() {
      let waits = state.withLock { state in
        state.awaitsBatch = state.entries.count < Self.batchLength
        return state.awaitsBatch
      }
      guard waits else { return }
      // A signal that comes just after the time-out ends the next wait early, which is harmless.
      _ = batches.wait(timeout: .now() + Self.batchWait)
      state.withLock { $0.awaitsBatch = false }
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
    init(onBatchEnd: @escaping @Sendable () -> Void = {}) {
      super.init()
      maxConcurrentOperationCount = 1
    }

    /// Whether data should be collected until the end of a batch; this queue has no batches.
    var isBusy: Bool { false }

    /// Notes that the current block passes on a chunk of a body.
    func noteChunk() {}

    /// Appends a block; does not wait.
    func runAfterPending(_ block: @escaping @Sendable () -> Void) {
      addOperation(block)
    }

    /// Whether reading waited since the last call; not known on this platform.
    func wasHeldUp(since lastCount: inout Int) -> Bool { false }
  }
#endif
