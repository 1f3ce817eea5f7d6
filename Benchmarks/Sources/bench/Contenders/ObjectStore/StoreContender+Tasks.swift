import Foundation
import ObjectStore

extension StoreContender: TaskWriter {
  func update(_ change: Progress) async throws {
    try await store.write { transaction in try Self.update(change, in: &transaction) }
  }
}

extension StoreContender: Observing {
  /// The store tells nobody what has changed, so that whoever looks at a result fetches it anew.
  func costOfObserving(_ changes: [Progress]) async throws -> [Duration] {
    try changes.map { change in
      let start = Duration.now(on: CLOCK_PROCESS_CPUTIME_ID)
      try store.write { transaction in try Self.update(change, in: &transaction) }
      let downloads = try store.read { try $0.fetch(Download.all) }
      guard downloads.contains(where: { change.isSeen(in: $0) }) else {
        throw Mismatch("the change of \(change.url) was not seen")
      }
      return .now(on: CLOCK_PROCESS_CPUTIME_ID) - start
    }
  }
}

extension Progress {
  /// Whether the record is that of the change, and has it.
  func isSeen(in download: Download) -> Bool {
    download.url == url && download.received == received && download.updatedAt == updatedAt
  }
}
