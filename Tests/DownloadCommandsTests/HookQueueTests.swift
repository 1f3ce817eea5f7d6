import DownloadStore
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

@Suite struct HookQueueTests {
  private let start = ContinuousClock.now

  private func entries(_ range: Range<Int>) -> [HookQueue.Entry] {
    range.map { HookQueue.Entry(recordID: "id\($0)", key: "id\($0)-7", hook: .completion) }
  }

  @Test func `hooks start in their order, four at a time`() {
    var queue = HookQueue()
    queue.insert(entries(0..<6))
    queue.insert(entries(0..<6))
    let first = queue.takeStarts(at: start)
    #expect(first == entries(0..<4))
    let none = queue.takeStarts(at: start)
    #expect(none.isEmpty)
    let outcome = queue.noteEnd(of: first[1], isSuccess: true, isMarked: false, at: start)
    #expect(outcome == .finished)
    let next = queue.takeStarts(at: start)
    #expect(next == entries(4..<5))
    #expect(!queue.isIdle)
  }

  private func pair(_ number: Int) -> (command: HookQueue.Entry, webhook: HookQueue.Entry) {
    let command = entries(number..<number + 1)[0]
    var webhook = command
    webhook.hook = .completionWebhook
    return (command, webhook)
  }

  @Test(arguments: [true, false])
  func `a webhook follows the first run of its command, whether that succeeds or fails`(
    isSuccess: Bool
  ) {
    var queue = HookQueue()
    let (first, second) = (pair(0), pair(1))
    queue.insert([first.command, first.webhook, second.command, second.webhook])
    #expect(queue.takeStarts(at: start) == [first.command, second.command])
    _ = queue.noteEnd(of: first.command, isSuccess: isSuccess, isMarked: !isSuccess, at: start)
    #expect(queue.takeStarts(at: start) == [first.webhook])
    // The command is due again, and waits for the webhook.
    let later = start.advanced(by: HookQueue.firstWait)
    #expect(queue.takeStarts(at: later).isEmpty)
    _ = queue.noteEnd(of: first.webhook, isSuccess: true, isMarked: false, at: later)
    #expect(queue.takeStarts(at: later) == (isSuccess ? [] : [first.command]))
  }

  @Test func `a webhook whose command is given up, or has succeeded, is repeated alone`() throws {
    for isSuccess in [true, false] {
      var queue = HookQueue()
      let (command, webhook) = pair(0)
      queue.insert([command, webhook])
      var runs: [HookQueue.Entry] = []
      var now = start
      while !queue.isIdle {
        let starting = queue.takeStarts(at: now)
        guard !starting.isEmpty else {
          now = try #require(queue.nextDue)
          continue
        }
        for entry in starting {
          runs.append(entry)
          let succeeds = entry == command && isSuccess
          _ = queue.noteEnd(of: entry, isSuccess: succeeds, isMarked: !succeeds, at: now)
        }
      }
      #expect(runs.prefix(2) == [command, webhook])
      #expect(runs.count { $0 == command } == (isSuccess ? 1 : HookQueue.maximumAttempts))
      #expect(runs.count { $0 == webhook } == HookQueue.maximumAttempts)
      #expect(queue.givenUpCount == (isSuccess ? 1 : 2))
    }
  }

  @Test func `a webhook does not overtake a command that has to wait for another process`() {
    var queue = HookQueue()
    let (command, webhook) = pair(0)
    queue.insert([command, webhook])
    #expect(queue.takeStarts(at: start) == [command])
    queue.delay(command, at: start)
    #expect(queue.takeStarts(at: start).isEmpty && !queue.isIdle)
    let later = start.advanced(by: HookQueue.firstWait)
    #expect(queue.takeStarts(at: later) == [command])
  }

  @Test func `a hook that succeeded is not run again while the store has its mark`() {
    var queue = HookQueue()
    queue.insert(entries(0..<1))
    for entry in queue.takeStarts(at: start) {
      _ = queue.noteEnd(of: entry, isSuccess: true, isMarked: true, at: start)
    }
    queue.insert(entries(0..<1))
    let again = queue.takeStarts(at: start)
    #expect(again.isEmpty && queue.isIdle && queue.givenUpCount == 0)
    // A second download of the same record is another end.
    queue.insert([HookQueue.Entry(recordID: "id0", key: "id0-8", hook: .completion)])
    let second = queue.takeStarts(at: start)
    #expect(second.map(\.key) == ["id0-8"])
  }

  @Test func `a hook that another process runs waits a second, and has not failed`() {
    var queue = HookQueue()
    let entry = HookQueue.Entry(recordID: "1", key: "1-1", hook: .completion)
    let now = ContinuousClock.now
    queue.insert([entry])
    for second in 0..<20 {
      let moment = now.advanced(by: .seconds(second))
      #expect(queue.takeStarts(at: moment) == [entry])
      queue.delay(entry, at: moment)
      #expect(queue.takeStarts(at: moment).isEmpty && !queue.isIdle)
      #expect(queue.nextDue == moment.advanced(by: .seconds(1)))
    }
    #expect(queue.givenUpCount == 0)
  }

  @Test func `nothing is kept of a hook whose mark is cleared`() {
    var queue = HookQueue()
    queue.insert(entries(0..<100))
    while !queue.isIdle {
      for entry in queue.takeStarts(at: start) {
        _ = queue.noteEnd(of: entry, isSuccess: true, isMarked: false, at: start)
      }
    }
    #expect(queue.count == 0)
  }

  @Test func `a hook that fails is repeated after doubling waits, up to five runs`() throws {
    var queue = HookQueue()
    queue.insert(entries(0..<1))
    var now = start
    var waits: [Duration] = []
    for _ in 1..<HookQueue.maximumAttempts {
      let entry = try #require(queue.takeStarts(at: now).first)
      guard
        case .repeated(let wait) = queue.noteEnd(
          of: entry,
          isSuccess: false,
          isMarked: true,
          at: now
        )
      else {
        Issue.record("not repeated after \(waits)")
        return
      }
      waits.append(wait)
      #expect(queue.nextDue == now.advanced(by: wait) && !queue.isIdle)
      queue.insert(entries(0..<1))
      let early = queue.takeStarts(at: now.advanced(by: wait - .milliseconds(1)))
      #expect(early.isEmpty)
      now = now.advanced(by: wait)
    }
    #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    let last = try #require(queue.takeStarts(at: now).first)
    let outcome = queue.noteEnd(of: last, isSuccess: false, isMarked: true, at: now)
    #expect(outcome == .givenUp && queue.givenUpCount == 1)
    queue.insert(entries(0..<1))
    #expect(queue.isIdle, "the mark is left to the next process")
  }

  @Test func `enough marks are read to find one that is not known`() {
    var queue = HookQueue()
    var stored = entries(0..<100)
    var count = 0
    while !stored.isEmpty {
      if queue.needsEntries { queue.insert(Array(stored.prefix(queue.readLimit))) }
      let starting = queue.takeStarts(at: start)
      guard !starting.isEmpty else { break }
      for entry in starting {
        _ = queue.noteEnd(of: entry, isSuccess: true, isMarked: false, at: start)
        stored.removeAll { $0 == entry }
        count += 1
      }
    }
    #expect(count == 100 && stored.isEmpty)
  }
}
