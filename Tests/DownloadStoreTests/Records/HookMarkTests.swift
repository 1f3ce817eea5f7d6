import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

/// The marks of hooks that are due.
@Suite struct HookMarkTests {
  private let fixture: StoreFixture
  private let url = "https://example.com/a.bin"

  init() throws {
    fixture = try StoreFixture()
    try fixture.add(url)
  }

  private func ended() throws -> DownloadRecord {
    try fixture.change(url) {
      $0.state = .completed
      $0.pendingHooks = [.completion]
    }
  }

  @Test func `a hook that has run clears its mark once`() async throws {
    let record = try ended()
    #expect(try await fixture.store.finishHook(.completion, of: record))
    #expect(try fixture.store.records(awaiting: .completion).isEmpty)
    let commit = try fixture.store.objects.commitNumber()
    #expect(try await !fixture.store.finishHook(.completion, of: record))
    #expect(try fixture.store.objects.commitNumber() == commit)
  }

  @Test func `only pending records are read to find those of a scope`() throws {
    let urls = (0..<200).map { "https://example.com/\($0)" }
    for url in urls { try fixture.add(url) }
    for (index, url) in urls.enumerated() {
      try fixture.change(url) {
        $0.state = .completed
        if index % 20 == 0 { $0.pendingHooks = [.completion] }
      }
    }
    var seen: Set<String> = []
    func pending(_ limit: Int, _ scope: Set<String>) throws -> Int {
      seen = []
      return try fixture.store.records(awaiting: .completion, limit: limit) { url in
        seen.insert(url)
        return scope.contains(url)
      }.count
    }
    #expect(try pending(.max, Set(urls)) == 10 && seen.count == 10)
    #expect(try pending(.max, Set(urls.prefix(25))) == 2 && seen.count == 10)
    #expect(try pending(3, Set(urls)) == 3 && seen.count == 3)
    #expect(try pending(.max, []) == 0)
    #expect(try pending(0, Set(urls)) == 0 && seen.isEmpty)
  }

  @Test func `a hook of an earlier end leaves the mark of a later one`() async throws {
    let record = try ended()
    let later = try fixture.change(url) { $0.generation += 1 }
    #expect(try await !fixture.store.finishHook(.completion, of: record))
    #expect(try fixture.store.records(awaiting: .completion) == [later])
  }

  @Test func `an end after an import or a restored backup has another key`() async throws {
    let record = try ended()
    let again = try fixture.change(url) { $0.completedAt = $0.createdAt.addingTimeInterval(60) }
    #expect(again.generation == record.generation)
    #expect(again.endKey != record.endKey)
    #expect(try await !fixture.store.finishHook(.completion, of: record))
    #expect(try fixture.store.records(awaiting: .completion) == [again])
  }

  @Test(arguments: [-Double.infinity, .nan, 1e300])
  func `a time that no number of microseconds states has a key`(seconds: Double) throws {
    var record = try ended()
    record.completedAt = Date(timeIntervalSince1970: seconds)
    #expect(record.endKey == "\(record.id)-\(record.generation)-0")
  }

  @Test func `a hook leaves the mark of another one`() async throws {
    let record = try ended()
    #expect(try await !fixture.store.finishHook(.failure, of: record))
    #expect(try fixture.store.records(awaiting: .completion) == [record])
  }

  @Test(arguments: [DownloadHook.completion, .completionWebhook])
  func `a command and a webhook for one end have a mark each`(first: DownloadHook) async throws {
    let record = try fixture.change(url) {
      $0.state = .completed
      $0.pendingHooks = [.completion, .completionWebhook]
    }
    let second: DownloadHook = first == .completion ? .completionWebhook : .completion
    #expect(try await fixture.store.finishHook(first, of: record))
    #expect(try fixture.store.records(awaiting: first).isEmpty)
    #expect(try fixture.store.records(awaiting: second).map(\.pendingHooks) == [[second]])
    #expect(try await fixture.store.finishHook(second, of: record))
    #expect(try fixture.store.records(awaiting: second).isEmpty)
  }
}
