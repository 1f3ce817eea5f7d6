import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

/// Cancelled and removed downloads that the running engine does not run.
///
/// No other engine can run beside it, so it deletes their files, too.
@Suite(.timeLimit(.minutes(10)))
struct GivenUpDownloadsTests {
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("cancelled", "removed", "finished", "running")
    for name in ["cancelled", "removed", "finished"] {
      try fixture.change(name, partial: 5) { ($0.received, $0.expected) = (5, 10) }
    }
    let layout = try fixture.layout("finished")
    try FileManager.default.moveItem(atPath: layout.partialPath, toPath: layout.finalPath)
    let identity = FileIdentity(ofFileAt: layout.finalPath)
    try fixture.change("finished") { record in
      (record.state, record.expected, record.fileIdentity) = (.completed, 5, identity)
    }
  }

  private func engine() throws -> DownloadEngine {
    var options = EngineOptions()
    options.scope = [fixture.url("running")]
    return try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options
    )
  }

  private func giveUp() throws {
    let store = fixture.store
    try store.apply(.cancel, to: .matching(fixture.url("cancelled")))
    try store.apply(.remove(withFile: false), to: .matching(fixture.url("removed")))
    try store.apply(.remove(withFile: true), to: .matching(fixture.url("finished")))
  }

  /// Waits until only the download that runs has files and is not given up.
  private func filesAreGone() async throws {
    let folder = try fixture.layout("running").folderPath
    try await waitUntil("the records to go") {
      try fixture.store.records(DownloadRecord.all).count == 2
        && fixture.record("cancelled").state == .cancelled
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    let id = try fixture.record("running").id
    #expect(names.allSatisfy { $0.hasPrefix(id) }, "\(names)")
  }

  @Test func `an engine of other downloads deletes the files when the command is given`()
    async throws
  {
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      try giveUp()
      try await filesAreGone()
    }
  }

  @Test(arguments: [DownloadState.waiting, .failedRetryable, .running])
  func `an engine of other downloads deletes the files that were left before its start`(
    state: DownloadState
  ) async throws {
    for name in ["cancelled", "removed"] { try fixture.change(name) { $0.state = state } }
    try giveUp()
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      try await filesAreGone()
    }
    #expect(fixture.transport.started.count == 1)
  }
}
