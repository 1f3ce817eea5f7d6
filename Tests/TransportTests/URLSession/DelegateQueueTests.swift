import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import Testing

@testable import DownloadURLSession

/// The bounded delegate queue, which exists on Linux only, and what it lets the delegate join.
@Suite(.timeLimit(.minutes(10)))
struct DelegateQueueTests {
  @Test func `a queue is busy above four blocks per millisecond`() {
    let start = ContinuousClock.now
    var pace = BlockPace()
    #expect(
      [
        pace.isBusy(after: 100, chunkCount: 100, at: start),
        // Not a millisecond yet.
        pace.isBusy(after: 100, chunkCount: 100, at: start + .microseconds(900)),
        pace.isBusy(after: 1, chunkCount: 1, at: start + .milliseconds(1)),
        pace.isBusy(after: 1, chunkCount: 1, at: start + .milliseconds(1.5)),
        pace.isBusy(after: 6, chunkCount: 6, at: start + .milliseconds(3)),
      ] == [false, false, true, true, false]
    )
  }

  @Test func `a queue is not busy after the head or the end of a task`() {
    let start = ContinuousClock.now
    var pace = BlockPace()
    #expect(
      [
        pace.isBusy(after: 1, chunkCount: 1, at: start),
        pace.isBusy(after: 100, chunkCount: 100, at: start + .milliseconds(1)),
        pace.isBusy(after: 32, chunkCount: 31, at: start + .milliseconds(1.1)),
        pace.isBusy(after: 32, chunkCount: 32, at: start + .milliseconds(1.2)),
        // Only the chunks count for the rate.
        pace.isBusy(after: 100, chunkCount: 1, at: start + .milliseconds(40)),
        pace.isBusy(after: 1, chunkCount: 1, at: start + .milliseconds(40.1)),
      ] == [false, true, false, true, false, false]
    )
  }

  @Test func `the pieces of a task are joined in order`() {
    let batch = DataBatch()
    let table = TaskTable()
    let tasks = (0..<2).map { table.add(recordID: "\($0)", sink: RecordingSink()) }
    #expect(batch.takeAll().isEmpty)
    batch.add(Data([1, 2]), of: tasks[0])
    batch.add(Data([9]), of: tasks[1])
    batch.add(Data([3]), of: tasks[0])
    let pieces = batch.takeAll()
    let bytes = pieces.map {
      batch.join($0) { unsafe $0.withUnsafeBufferPointer { unsafe Array($0) } }
    }
    #expect(bytes == [[1, 2, 3], [9]])
    #expect(pieces.map { $0.task.gate.recordID } == ["0", "1"])
    #expect(batch.takeAll().isEmpty)
  }

  #if os(Linux)
    /// Events of a queue, in order.
    private final class Log: Sendable {
      private let events = Mutex<[String]>([])

      func add(_ event: String) { events.withLock { $0.append(event) } }

      var all: [String] { events.withLock { $0 } }
    }

    @Test func `the end of a batch follows the blocks that were waiting`() async {
      let log = Log()
      let queue = DelegateQueue { log.add("end") }
      let first = DispatchSemaphore(value: 0)
      queue.addOperation {
        first.wait()
        log.add("0")
      }
      for number in 1...3 { queue.addOperation { log.add("\(number)") } }
      // Appended by the queue itself, which must not wait for a slot.
      queue.addOperation { for _ in 0..<100 { queue.addOperation {} } }
      first.signal()
      await withCheckedContinuation { done in
        queue.addOperation { queue.runAfterPending { queue.runAfterPending { done.resume() } } }
      }
      let events = log.all
      #expect(events.filter { $0 != "end" } == ["0", "1", "2", "3"])
      #expect(events.last == "end")
    }

    @Test func `a busy queue runs every block, and waits for no batch forever`() async {
      let log = Log()
      let queue = DelegateQueue()
      for number in 0..<10_000 {
        queue.addOperation {
          queue.noteChunk()
          log.add("\(number)")
        }
      }
      await withCheckedContinuation { done in queue.addOperation { done.resume() } }
      #expect(log.all == (0..<10_000).map(String.init))
    }
  #endif
}
