import Foundation
import Testing

@testable import DownloadStore

/// The table of the state machine, and that the records follow it.
@Suite struct TransitionTableTests {
  private typealias Kind = DownloadRecord.Event.Kind

  private static let moment = Date(timeIntervalSince1970: 1_800_000_000)
  private static let identity = FileIdentity(size: 100, inode: 1, modified: 1)

  /// An event of each kind.
  private static func event(_ kind: Kind) -> DownloadRecord.Event {
    func attempt(droppingBytes: Bool = false, _ wait: Duration?) -> DownloadRecord.Event {
      let failure = DownloadFailure(.timedOut, "no answer")
      return .attemptFailed(.init(failure, from: "u", droppingBytes: droppingBytes) { _ in wait })
    }
    func unattended(maximumCrashes: Int32 = 90, isDue: Bool = true) -> DownloadRecord.Event {
      .unattended(
        .init(after: .none, maximumCrashes: maximumCrashes, source: "u", isDue: isDue)
      )
    }
    return switch kind {
    case .pause: .command(.pause)
    case .resume: .command(.resume(immediately: false))
    case .cancel: .command(.cancel)
    case .restart: .command(.restart)
    case .refresh, .refreshRefused: .command(.refresh)
    case .remove: .command(.remove(withFile: false))
    case .addedAgain: .addedAgain
    case .moved: .moved(to: "https://example.com/b")
    case .imported: .imported(keepingBytes: false)
    case .started: .started(keepingBytes: true)
    case .taskAdopted: .taskAdopted()
    case .transferContinued: .transferContinued
    case .interrupted: .interrupted()
    case .attemptFailed: attempt(.seconds(1))
    case .attemptRestarted: attempt(droppingBytes: true, .zero)
    case .attemptDeferred: .attemptDeferred(from: "u")
    case .failed, .refreshFailed: attempt(nil)
    case .unattended: unattended()
    case .retryPending: unattended(isDue: false)
    case .quarantined: unattended(maximumCrashes: 0)
    case .fileLost: .fileLost
    case .pauseCarriedOut: .pauseCarriedOut
    case .cancellationCarriedOut, .refreshCancelled: .cancellationCarriedOut()
    case .notModified: .notModified
    case .fileComplete: .fileComplete(.init(identity))
    case .completed: .completed()
    case .fileAdopted: .fileAdopted(identity)
    case .fileRejected: .fileRejected(requiring: nil)
    case .fileDamaged:
      .fileDamaged(.init(keeping: ByteRanges(upTo: 5), replacing: identity, partial: nil))
    }
  }

  /// A record for which the event is of the kind.
  private static func record(for kind: Kind, _ status: DownloadStatus) -> DownloadRecord {
    var record = DownloadRecord.sample(status.state, status.intent)
    switch kind {
    case .refresh:
      record.fileIdentity = identity
    case .refreshFailed, .refreshCancelled, .notModified:
      var finished = DownloadRecord.sample(.completed, .run)
      (finished.fileIdentity, finished.completedAt) = (identity, record.updatedAt)
      _ = try? finished.apply(.command(.refresh), at: record.updatedAt)
      record = finished
      (record.state, record.intent) = (status.state, status.intent)
    default: break
    }
    return record
  }

  @Test(arguments: DownloadRecord.Event.Kind.allCases)
  func `every position takes an event as the table says`(kind: DownloadRecord.Event.Kind) {
    let event = Self.event(kind)
    for status in DownloadStatus.all {
      let old = Self.record(for: kind, status)
      var record = old
      switch TransitionTable.entry(for: kind, in: status) {
      case .becomes(let new):
        #expect(record.accepts(event))
        #expect(throws: Never.self) { try record.apply(event, at: Self.moment) }
        #expect(record.status == new, "\(kind) in \(status)")
        #expect(record.updatedAt == (record == old ? old.updatedAt : Self.moment))
      case .ignored:
        #expect(record.accepts(event))
        let outcome = try? record.apply(event, at: Self.moment)
        #expect(outcome?.hasChanged == false && record == old, "\(kind) in \(status)")
      case .illegal:
        let error = #expect(throws: TransitionError.self) {
          try record.apply(event, at: Self.moment)
        }
        #expect(record == old && error?.status == status)
        #expect(error?.expected.contains(status.state) == false)
      }
    }
  }

  @Test func `a command is accepted everywhere, and reports whether it has an effect`() {
    for kind in Kind.allCases where kind.isCommand {
      for status in DownloadStatus.all {
        #expect(TransitionTable.entry(for: kind, in: status) != .illegal)
      }
    }
  }

  @Test func `the events lead only to positions that an engine knows`() {
    let reachable = TransitionTable.reachable
    let expected: [DownloadState: Set<DownloadIntent>] = [
      .waiting: [.run, .cancel], .running: [.run, .cancel], .paused: [.pause],
      .failedRetryable: [.run], .failedPermanent: [.run, .pause],
      .finalizing: [.run, .pause, .cancel], .completed: [.run, .pause], .cancelled: [.cancel],
      .removed: [.remove],
    ]
    for status in DownloadStatus.all {
      let isExpected = expected[status.state]?.contains(status.intent) == true
      #expect(reachable.contains(status) == isExpected, "\(status)")
    }
  }

  @Test func `an imported record has a position that an engine knows, and no transfer`() {
    let states: Set<DownloadState> = [
      .waiting, .paused, .failedRetryable, .failedPermanent, .completed, .cancelled,
    ]
    for status in DownloadStatus.all {
      switch TransitionTable.entry(for: .imported, in: status) {
      case .becomes(let new):
        #expect(states.contains(new.state) && TransitionTable.reachable.contains(new))
      case .ignored: Issue.record("\(status) is ignored")
      case .illegal: #expect(status.state == .removed || status.intent == .remove)
      }
    }
  }

  @Test func `every rule of the table applies somewhere`() {
    for kind in Kind.allCases {
      var covered: Set<DownloadStatus> = []
      for rule in TransitionTable.rules(of: kind) {
        let positions = Set(
          DownloadStatus.all.filter {
            rule.states.contains($0.state) && rule.intents.contains($0.intent)
          }
        )
        #expect(!positions.subtracting(covered).isEmpty, "a rule of \(kind) is shadowed")
        covered.formUnion(positions)
      }
    }
  }
}
