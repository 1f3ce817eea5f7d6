import DownloadStore
import DownloadSync
import TestSupport
import Testing

@testable import DownloadServer

/// Commands of clients that delete files.
@Suite struct APIActionTests {
  @Test(arguments: [APIAction.Kind.cancel, .remove])
  func `a command that an ending engine has not seen is carried out when its lock is free`(
    kind: APIAction.Kind
  ) async throws {
    let folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path("store"))
    try store.addNow([DownloadRequest(url: "http://h.example/a.bin")])
    // An engine that looks at the store no more.
    var lock: EngineLock? = try EngineLock(storePath: store.path)
    var action = APIAction(kind)
    action.selection = .names(["a.bin"])
    let outcomes = try action.apply(to: store)
    try await action.carryOut(outcomes, in: store, patience: .zero)
    let left = try store.records()
    #expect(left.map(\.isToBeDeleted) == [true])
    let carriedOut = Task { [action] in
      try await action.carryOut(outcomes, in: store, patience: .seconds(600))
    }
    for _ in 0..<100 { await Task.yield() }
    withExtendedLifetime(lock) {}
    lock = nil
    try await carriedOut.value
    // A removal also deletes the record.
    let expected: [DownloadState] = kind == .cancel ? [.cancelled] : []
    let records = try store.records()
    #expect(records.map(\.state) == expected && records.filter(\.isToBeDeleted).isEmpty)
  }
}
