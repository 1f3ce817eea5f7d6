import ObjectStore
import TestSupport
import Testing

@testable import DownloadStore

/// The rate limit of a store.
@Suite struct RateLimitTests {
  let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture()
  }

  @Test func `a store has no rate limit until one is set, and keeps it`() throws {
    let store = fixture.store
    #expect(try store.rateLimit() == nil)
    try store.setRateLimit(2_000)
    #expect(try RecordStore(at: store.path, access: .readOnly).rateLimit() == 2_000)
    try store.setRateLimit(.max)
    #expect(try store.rateLimit() == .max)
    try store.setRateLimit(nil)
    #expect(try store.rateLimit() == nil)
  }

  @Test(arguments: [0, -1, .min] as [Int64])
  func `a limit below one is refused, and ignored if another program stores it`(
    limit: Int64
  ) throws {
    let store = fixture.store
    try store.setRateLimit(5)
    let error = #expect(throws: RecordStoreError.self) { try store.setRateLimit(limit) }
    #expect(error?.code == .invalidRecord)
    #expect(try store.rateLimit() == 5)
    try store.objects.write { tx in
      _ = try tx.upsert(EngineSettings(name: EngineSettings.standardName, bytesPerSecond: limit))
    }
    #expect(try store.rateLimit() == nil)
  }
}
