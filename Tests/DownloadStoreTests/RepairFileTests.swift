import Foundation
import ObjectStore
import RecordTestSupport
import Testing

@testable import DownloadStore

/// Queueing the repair of a finished file, and the hooks of an end.
@Suite struct RepairFileTests {
  private let fixture: StoreFixture
  private let url = "https://example.com/a.bin"

  init() throws {
    fixture = try StoreFixture()
    try fixture.add(url)
  }

  /// Queues a repair that keeps the first bytes of the finished file.
  private func repair(keeping count: Int64 = 2) throws -> DownloadRecord? {
    let record = try fixture.store.record(matching: url)
    return try fixture.store.repairFile(
      FileCheck(
        record: record,
        path: fixture.layout(of: record).finalPath,
        finding: .damaged,
        kept: ByteRanges(upTo: count),
        damaged: ByteRanges([count..<4]),
        identity: FileIdentity(ofFileAt: fixture.layout(of: record).finalPath),
        hasCorrectPiece: false
      )
    )
  }

  @Test func `while a repair is queued, a purge deletes the finished file only if it is asked to`()
    throws
  {
    let finished = try fixture.finish(url)
    let identity = try #require(finished.fileIdentity)
    let queued = try #require(try repair())
    #expect(queued.state == .waiting && queued.received == 2 && queued.verifiedDigest == nil)
    #expect(queued.fileIdentity == nil && queued.replacedFileIdentity == identity)
    #expect(queued.generation == finished.generation + 1)
    let layout = try fixture.layout(of: queued)
    // The file belongs to the record until the repaired one replaces it (decision 0099).
    let whole = try fixture.store.purgePlan([queued], withFiles: true)
    #expect(Set(whole.files.map(\.path)) == [layout.partialPath, layout.finalPath])
    let plan = try fixture.store.purgePlan([queued], withFiles: false)
    #expect(plan.files.map(\.path) == [layout.partialPath])
    try fixture.store.purge(plan)
    #expect(FileIdentity(ofFileAt: layout.finalPath) == identity)
    #expect(FileIdentity(ofFileAt: layout.partialPath) == nil)
  }

  @Test func `a record that has changed since the check is not repaired`() throws {
    let finished = try fixture.finish(url)
    let layout = try fixture.layout(of: finished)
    func isRefused(_ change: (inout DownloadRecord) -> Void) throws -> Bool {
      let check = FileCheck(
        record: finished,
        path: layout.finalPath,
        finding: .damaged,
        kept: ByteRanges(upTo: 2),
        damaged: ByteRanges([2..<4]),
        identity: FileIdentity(ofFileAt: layout.finalPath),
        hasCorrectPiece: false
      )
      let changed = try fixture.change(url, change)
      guard try fixture.store.repairFile(check) == nil else { return false }
      return try fixture.store.record(matching: url) == changed
    }
    #expect(try isRefused { $0.generation += 1 })
    #expect(
      try isRefused {
        $0.generation -= 1
        $0.state = .waiting
      }
    )
    // Another download that was added under the same URL.
    #expect(
      try isRefused {
        $0.state = .completed
        $0.id = "0123456789abcdef"
      }
    )
  }

  @Test func `the hook of an earlier end does not clear the mark of a later one`() async throws {
    func complete() throws -> DownloadRecord {
      try fixture.change(url) { record in
        if record.state == .completed { record.take(.command(.restart)) }
        record.take(.started(keepingBytes: false), at: fixture.now)
        record.take(.completed(marking: [.completion]), at: fixture.now)
      }
    }
    let first = try complete()
    let second = try complete()
    #expect(try await fixture.store.finishHook(.completion, of: first) == false)
    #expect(try fixture.store.records(awaiting: .completion) == [second])
    // Nor does a hook of another kind, or of another record.
    #expect(try await fixture.store.finishHook(.failure, of: second) == false)
    var other = second
    other.id = "0123456789abcdef"
    #expect(try await fixture.store.finishHook(.completion, of: other) == false)
    #expect(try fixture.store.records(awaiting: .completion) == [second])
    #expect(try await fixture.store.finishHook(.completion, of: second))
    #expect(try fixture.store.records(awaiting: .completion) == [])
  }
}
