import Foundation
import ObjectStore
import RecordTestSupport
import TestTraits
import Testing

@testable import DownloadStore

/// The effect of each command on each record, without a store.
@Suite struct DownloadCommandTests {
  private static let commands: [DownloadCommand] = [
    .pause, .resume(immediately: false), .resume(immediately: true), .cancel, .restart,
    .remove(withFile: false), .remove(withFile: true),
  ]

  /// Every state with every intent and every flag, including combinations that do not occur.
  private static let records: [DownloadRecord] = {
    var records: [DownloadRecord] = []
    for state in DownloadState.allCases {
      for intent in DownloadIntent.allCases {
        for isMarked in [false, true] {
          records.append(record(state, intent, isMarked, received: 0))
          records.append(record(state, intent, isMarked, received: 40))
        }
      }
    }
    return records
  }()

  private static func record(
    _ state: DownloadState,
    _ intent: DownloadIntent,
    _ isMarked: Bool,
    received: Int64
  ) -> DownloadRecord {
    var record = DownloadRecord.sample(state, intent, received: received)
    if state == .completed {
      record.fileIdentity = FileIdentity(size: 100, inode: 1, modified: 1)
    }
    record.nextRetryAt = isMarked ? Date(timeIntervalSince1970: 9) : nil
    record.isHeld = isMarked
    record.startsImmediately = isMarked
    record.failedAttempts = isMarked ? 2 : 0
    record.generation = 3
    return record
  }

  private static func words(_ record: DownloadRecord) -> String {
    "\(record.state.rawValue)/\(record.intent.rawValue)"
  }

  /// State and intent of a record, and both after pause, resume, cancel, restart and remove.
  ///
  /// `=` means unchanged.
  @Test(arguments: [
    "waiting/run          paused/pause      =              waiting/cancel      waiting/run",
    "running/run          paused/pause      =              running/cancel      waiting/run",
    "failedRetryable/run  paused/pause      waiting/run    waiting/cancel      waiting/run",
    "failedPermanent/run  =                waiting/run    waiting/cancel      waiting/run",
    "finalizing/run       finalizing/pause  =              finalizing/cancel   waiting/run",
    "paused/pause          =                waiting/run    waiting/cancel      waiting/run",
    "completed/run        =                =              =                 waiting/run",
    "cancelled/cancel       =                =              =                 waiting/run",
    "removed/remove      =                =              =                 =",
    // Commands that no engine has carried out yet.
    "running/pause         paused/pause      running/run    running/cancel      waiting/run",
    "waiting/pause         paused/pause      waiting/run    waiting/cancel      waiting/run",
    "finalizing/pause      =                finalizing/run finalizing/cancel   waiting/run",
    "completed/pause       =                =              =                 waiting/run",
    "waiting/cancel         =                =              =                 waiting/run",
    "running/cancel         =                =              =                 waiting/run",
    "finalizing/cancel      =                =              =                 waiting/run",
  ])
  func `each command has its effect in each state`(row: String) throws {
    let cells = row.split(separator: " ").map(String.init)
    let records = Self.records.filter { Self.words($0) == cells[0] && $0.received > 0 }
    #expect(records.count == 2)
    for record in records {
      let commands: [DownloadCommand] = [.pause, .resume(immediately: false), .cancel, .restart]
      for (command, cell) in zip(commands, cells.dropFirst()) {
        let words = Self.words(record.applying(command))
        #expect(words == (cell == "=" ? cells[0] : cell), "\(command)")
      }
      #expect(Self.words(record.applying(.remove(withFile: false))) == "removed/remove")
    }
  }

  @Test func `a restart clears the byte count that resolves failed attempts`() {
    for var record in Self.records where record.state == .failedPermanent {
      // Failed attempts are cleared by progress beyond that count, and a restart has made none.
      record.resolvedBytes = 40
      let restarted = record.applying(.restart)
      #expect(restarted.resolvedBytes == 0 && restarted.received == 0)
    }
  }

  @Test func `applying a command twice has the effect of applying it once`() {
    for record in Self.records {
      for command in Self.commands {
        let once = record.applying(command)
        #expect(once.applying(command) == once, "\(Self.words(record)) \(command)")
      }
    }
  }

  @Test func `no command changes the identity of a download`() {
    for record in Self.records {
      for command in Self.commands {
        let applied = record.applying(command)
        #expect(applied.url == record.url && applied.id == record.id)
        #expect(applied.destination == record.destination)
        #expect(applied.tags == record.tags && applied.priority == record.priority)
        #expect(applied.createdAt == record.createdAt && applied.attempts == record.attempts)
        #expect(applied.generation >= record.generation)
      }
    }
  }

  @Test func `only a restart drops bytes, and it starts a new generation`() {
    for record in Self.records {
      for command in Self.commands {
        let applied = record.applying(command)
        guard command == .restart, applied != record else {
          #expect(applied.received == record.received && applied.entityTag == record.entityTag)
          #expect(applied.generation == record.generation)
          continue
        }
        #expect(applied.received == 0 && applied.entityTag == nil && applied.expected == nil)
        #expect(applied.resumeData == nil && applied.fileIdentity == nil)
        #expect(applied.generation == record.generation + 1)
      }
    }
  }

  @Test(.requirements("FK13")) func `a paused record does not run`() {
    for record in Self.records {
      let paused = record.applying(.pause)
      let isAtRest = [.failedPermanent, .completed, .cancelled, .removed].contains(paused.state)
      #expect(isAtRest || paused.intent != .run, "\(Self.words(record))")
      #expect(isAtRest || paused.intent != .pause || !paused.startsImmediately || paused == record)
    }
  }

  @Test func `a cancelled or removed record is in a state that an engine examines`() {
    for record in Self.records {
      for command in [DownloadCommand.cancel, .remove(withFile: true)] {
        let applied = record.applying(command)
        guard applied != record else { continue }
        #expect(DownloadState.active.contains(applied.state))
        #expect(applied.intent == .cancel || applied.intent == .remove)
        #expect(!applied.startsImmediately && !applied.isHeld && applied.nextRetryAt == nil)
      }
    }
  }

  @Test(.requirements("ZY65")) func `resuming clears the hold and the retry delay`() {
    for record in Self.records {
      let resumed = record.applying(.resume(immediately: true))
      guard resumed.state == .waiting, resumed.intent == .run else { continue }
      #expect(!resumed.isHeld && resumed.startsImmediately)
      if record.state != .waiting {
        #expect(resumed.failedAttempts == 0 && resumed.nextRetryAt == nil)
      }
    }
  }

  @Test func `the identity of the previous file is kept until the next file replaces it`() throws {
    let complete = try #require(
      Self.records.first { $0.state == .completed && $0.intent == .run && $0.fileIdentity != nil }
    )
    let restarted = complete.applying(.restart)
    #expect(restarted.replacedFileIdentity == complete.fileIdentity)
    #expect(restarted.applying(.cancel).replacedFileIdentity == complete.fileIdentity)
    // When the record is removed, that file still belongs to it.
    #expect(restarted.applying(.remove(withFile: true)).fileIdentity == complete.fileIdentity)
  }

  @Test func `a later removal can add the deletion of the file but not withdraw it`() throws {
    let record = Self.records[0]
    let removed = record.applying(.remove(withFile: false))
    #expect(!removed.removesFile)
    let both = removed.applying(.remove(withFile: true))
    #expect(both.removesFile)
    #expect(both.applying(.remove(withFile: false)).removesFile)
  }

  @Test func `a command has no effect outside its states`() {
    for record in Self.records {
      for command in Self.commands where !command.states.contains(record.state) {
        #expect(record.applying(command) == record)
      }
    }
  }
}
