import Foundation
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct SupervisionTests {
  private var supervision = Supervision(failsWhenSomethingFailed: true)

  private func status(_ step: Supervision.Step) -> Int32? {
    if case .end(let status, _) = step { status } else { nil }
  }

  @Test func `wait statuses are decoded`() {
    #expect(ProcessEnd(waitStatus: 0) == .exited(0))
    #expect(ProcessEnd(waitStatus: 75 << 8) == .exited(75))
    #expect(ProcessEnd(waitStatus: SIGSEGV | 0x80) == .signalled(SIGSEGV))
  }

  @Test(arguments: [0, 1, 64, 75, 130] as [Int32])
  func `the worker's exit code is passed on`(code: Int32) {
    var supervision = supervision
    #expect(status(supervision.step(after: .exited(code), notes: [.ready], stop: nil)) == code)
  }

  @Test(arguments: [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE])
  func `a crashed worker is restarted without limit if its engine had started`(signal: Int32) {
    var supervision = supervision
    for _ in 0..<20 {
      let step = supervision.step(after: .signalled(signal), notes: [.ready], stop: nil)
      #expect(status(step) == nil)
    }
  }

  @Test func `three crashes in a row before the engine starts end the program`() {
    var supervision = supervision
    let crash = ProcessEnd.signalled(SIGSEGV)
    #expect(status(supervision.step(after: crash, notes: [], stop: nil)) == nil)
    #expect(status(supervision.step(after: crash, notes: [], stop: nil)) == nil)
    #expect(status(supervision.step(after: crash, notes: [.ready], stop: nil)) == nil)
    #expect(status(supervision.step(after: crash, notes: [], stop: nil)) == nil)
    #expect(status(supervision.step(after: crash, notes: [], stop: nil)) == nil)
    #expect(status(supervision.step(after: crash, notes: [], stop: nil)) == 70)
  }

  @Test func `crashes without a commit end the program`() {
    var supervision = supervision
    let crash = ProcessEnd.signalled(SIGILL)
    for _ in 1..<Supervision.maximumIdleCrashes {
      let step = supervision.step(after: crash, notes: [.ready], commit: 7, stop: nil)
      #expect(status(step) == nil)
    }
    let last = supervision.step(after: crash, notes: [.ready], commit: 7, stop: nil)
    #expect(status(last) == 70)
    guard case .end(_, let message?) = last else { return #expect(Bool(false)) }
    #expect(message.contains("5 times without a change of the store"))
  }

  @Test func `each commit begins the count of crashes again`() {
    var supervision = supervision
    for crash in 0..<100 as Range<UInt64> {
      // Every fourth worker changes the store.
      let step = supervision.step(
        after: .signalled(SIGILL),
        notes: [.ready],
        commit: crash / 4,
        stop: nil
      )
      #expect(status(step) == nil)
    }
  }

  @Test(arguments: [0, 0x66, 0x7266_7266_7266_7266, .max] as [UInt64])
  func `the note that the engine is ready has the number of the last commit`(commit: UInt64) {
    let bytes = Worker.Report.ready(commit: commit) + [Worker.Note.failed.rawValue]
    #expect(Worker.Report(bytes) == Worker.Report(notes: [.ready, .failed], commit: commit))
    #expect(Worker.Report(bytes.dropLast()) == Worker.Report(notes: [.ready], commit: commit))
    #expect(Worker.Report([]) == Worker.Report())
  }

  @Test(arguments: [0, 0x7266, 0x7373, .max] as [UInt16])
  func `the note that the server accepts connections has its port`(port: UInt16) {
    let bytes = Worker.Report.serving(port: port) + Worker.Report.ready(commit: 7)
    #expect(
      Worker.Report(bytes) == Worker.Report(notes: [.serving, .ready], commit: 7, port: port)
    )
    #expect(Worker.Report([Worker.Note.serving.rawValue]).port == nil)
  }

  @Test func `a killed worker is not restarted`() {
    var supervision = supervision
    #expect(status(supervision.step(after: .signalled(SIGKILL), notes: [.ready], stop: nil)) == 1)
  }

  @Test(
    arguments: [
      (SIGINT, 130), (SIGUSR1, 130), (SIGTERM, 143), (SIGUSR2, 143), (SIGHUP, 129),
      (SIGVTALRM, 129),
    ] as [(Int32, Int32)]
  )
  func `a worker stopped before it handles signals counts as stopped`(signal: Int32, code: Int32) {
    var supervision = supervision
    #expect(status(supervision.step(after: .signalled(signal), notes: [], stop: nil)) == code)
  }

  @Test func `a crash while stopping ends the program`() {
    var supervision = supervision
    let step = supervision.step(after: .signalled(SIGILL), notes: [.ready], stop: .terminate)
    #expect(status(step) == 143)
  }

  @Test func `failures of a worker that crashed later count`() {
    var supervision = supervision
    _ = supervision.step(after: .signalled(SIGILL), notes: [.ready, .failed], stop: nil)
    #expect(status(supervision.step(after: .exited(0), notes: [.ready], stop: nil)) == 1)
    var other = Supervision(failsWhenSomethingFailed: false)
    _ = other.step(after: .signalled(SIGILL), notes: [.ready, .failed], stop: nil)
    #expect(status(other.step(after: .exited(0), notes: [.ready], stop: nil)) == 0)
  }

  @Test func `a worker that exits says itself what became of its failures`() {
    for code in [0, 1] as [Int32] {
      var supervision = supervision
      let step = supervision.step(after: .exited(code), notes: [.ready, .failed], stop: nil)
      #expect(status(step) == code)
    }
  }

  /// A time that is so many seconds after the first signal.
  private func after(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }
  private let start = ContinuousClock.now

  @Test func `a signal received twice on two paths counts once`() {
    var count = StopCount()
    #expect(count.hear(.interrupt, isPassedOn: false, at: start) == .first)
    #expect(count.hear(.interrupt, isPassedOn: true, at: after(1)) == .known)
    #expect(count.hear(.interrupt, isPassedOn: true, at: after(2)) == .again)
    #expect(count.first == .interrupt)
  }

  @Test(arguments: [false, true], [false, true])
  func `a signal that follows the first one at once is the same request`(
    isPassedOn: Bool,
    isPassedOnLater: Bool
  ) {
    var count = StopCount()
    #expect(count.hear(.terminate, isPassedOn: isPassedOn, at: start) == .first)
    #expect(count.hear(.terminate, isPassedOn: isPassedOn, at: after(0)) == .known)
    #expect(count.hear(.terminate, isPassedOn: !isPassedOn, at: after(0.2)) == .known)
    #expect(count.hear(.terminate, isPassedOn: isPassedOnLater, at: after(0.3)) == .again)
  }

  @Test func `hang-ups are no further requests, and neither is the first stop after one`() {
    var count = StopCount()
    #expect(count.hear(.hangUp, isPassedOn: false, at: start) == .first)
    #expect(count.hear(.hangUp, isPassedOn: true, at: after(1)) == .known)
    #expect(count.hear(.hangUp, isPassedOn: false, at: after(2)) == .known)
    #expect(count.hear(.terminate, isPassedOn: false, at: after(3)) == .known)
    #expect(count.hear(.terminate, isPassedOn: true, at: after(4)) == .known)
    #expect(count.first == .hangUp)
    #expect(count.hear(.terminate, isPassedOn: false, at: after(5)) == .again)
  }

  @Test func `a hang-up after another signal does not end the program at once`() {
    var count = StopCount()
    #expect(count.hear(.interrupt, isPassedOn: false, at: start) == .first)
    #expect(count.hear(.hangUp, isPassedOn: false, at: after(1)) == .known)
    #expect(count.hear(.interrupt, isPassedOn: false, at: after(2)) == .again)
  }

  @Test func `two signals on the same path count twice`() {
    var count = StopCount()
    #expect(count.hear(.terminate, isPassedOn: true, at: start) == .first)
    #expect(count.hear(.interrupt, isPassedOn: true, at: after(1)) == .again)
    #expect(count.first == .terminate)
  }
}
