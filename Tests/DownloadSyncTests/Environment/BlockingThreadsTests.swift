import Dispatch
import SystemInterface
import TestTraits
import Testing

@testable import DownloadSync

/// The threads for work that blocks.
@Suite(.timeLimit(.minutes(10)))
struct BlockingThreadsTests {
  @Test func `works that block run at the same time, up to the limit`() async {
    let threads = BlockingThreads(limit: 16)
    let meeting = DispatchSemaphore(value: 0)
    let everyone = DispatchSemaphore(value: 0)
    await withCheckedContinuation { done in
      let results = GatheredResults<Int>(count: 16)
      for number in 0..<16 {
        threads.run {
          // Each work waits until all have begun.
          if number == 0 {
            for _ in 1..<16 { meeting.wait() }
            for _ in 1..<16 { everyone.signal() }
          } else {
            meeting.signal()
            everyone.wait()
          }
          if results.note(number, at: number) != nil { done.resume() }
        }
      }
    }
  }

  @Test func `work beyond the limit waits in order`() async {
    let threads = BlockingThreads(limit: 1)
    let order = Mutex<[Int]>([])
    let gate = DispatchSemaphore(value: 0)
    await withCheckedContinuation { done in
      threads.run { gate.wait() }
      for number in 0..<100 { threads.run { order.withLock { $0.append(number) } } }
      threads.run { done.resume() }
      gate.signal()
    }
    #expect(order.withLock { $0 } == Array(0..<100))
  }

  @Test func `results are in the order of the elements`() async {
    var environment = EngineEnvironment.live
    environment.startWork = { work in DispatchQueue.global().async(execute: work) }
    #expect(
      await environment.blocking(forEach: Array(0..<100)) { $0 * 2 } == (0..<100).map { $0 * 2 }
    )
    #expect(await environment.blocking(forEach: [Int]()) { $0 }.isEmpty)
  }
}
