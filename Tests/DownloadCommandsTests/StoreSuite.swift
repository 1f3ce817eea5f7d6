import DownloadStore
import Foundation
import ObjectStore
import Testing

/// Tests of commands on a store of their own.
protocol StoreSuite {
  /// The path of the store.
  var store: String { get }
}

extension StoreSuite {
  /// Changes a record as an engine would.
  func change(_ url: String, _ body: @Sendable (inout DownloadRecord) -> Void) throws {
    let store = try RecordStore(at: store)
    try store.objects.write { tx in
      guard var record = try tx.find(DownloadRecord.self, key: url) else { return }
      body(&record)
      try tx.upsert(record)
    }
  }

  /// Returns the objects of a JSON array.
  func objects(_ text: String) throws -> [[String: Any]] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
  }
}
