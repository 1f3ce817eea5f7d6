import Foundation
import ObjectStore

extension StoreContender: BatchReader {
  func readTogether(_ urls: [String], _ stopwatch: inout Stopwatch) throws -> Digest {
    try stopwatch.run {
      try store.read { snapshot in
        var digest = Digest()
        for (index, found) in try snapshot.find(Download.self, keys: urls).enumerated() {
          guard let found else { throw Mismatch("no \(urls[index])") }
          digest.add(found)
        }
        return digest
      }
    }
  }
}

extension StoreContender: TaskWriter, Observing {}
extension KeyContender: TaskWriter, Observing {}

extension ObjectStoreContender {
  func update(_ change: Progress) async throws {
    try await store.write { transaction in try Self.update(change, in: &transaction) }
  }

  func costOfObserving(_ changes: [Progress]) async throws -> [Duration] {
    var results = store.observe(Root.all).makeAsyncIterator()
    _ = try await results.next()
    var costs: [Duration] = []
    for change in changes {
      let start = Duration.now(on: CLOCK_PROCESS_CPUTIME_ID)
      try writeNow { try Self.update(change, in: &$0) }
      guard let result = try await results.next(), result.modifications.count == 1,
        change.isSeen(in: result.snapshot[result.modifications[0]].download)
      else { throw Mismatch("the change of \(change.url) was not seen") }
      costs.append(Duration.now(on: CLOCK_PROCESS_CPUTIME_ID) - start)
    }
    return costs
  }

  private func writeNow(_ body: (inout StoreTransaction) throws -> Void) throws {
    try store.write(body)
  }
}

extension Progress {
  /// Whether the record contains the change.
  func isSeen(in download: Download) -> Bool {
    download.url == url && download.received == received && download.updatedAt == updatedAt
  }
}
