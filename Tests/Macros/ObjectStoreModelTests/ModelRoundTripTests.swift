import Foundation
import ObjectStoreModel
import Testing

@Suite struct ModelRoundTripTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "ModelRoundTripTests-\(UUID().uuidString)").path

  @Test func `the stored properties of an object round-trip`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var download = Download(url: "https://example.com/a", created: .distantPast)
    download.state = .done
    download.tags = ["model", "large"]
    download.received = 4096
    download.blob = Data([1, 2, 3])
    download.priority = nil
    download.note = "again"
    download.attemptCount = 3
    download.history = [.waiting, .done]
    download.isSelected = true
    download.badge = 1
    let store = try Store(at: folder, models: [Download.self])
    try store.write { transaction in
      _ = try transaction.upsert(download)
    }
    let found = try store.read { snapshot in
      try snapshot.find(Download.self, key: download.url)
    }
    // Transient properties have their default.
    download.isSelected = false
    download.badge = nil
    #expect(found == download)
  }

  @Test func `a record of an earlier schema is read with defaults and new names`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try withEarlierStore { store in
      try store.write { transaction in
        _ = try transaction.upsert(EarlierEntry(id: 7, heading: "Title"))
      }
    }
    let store = try Store(at: folder, models: [LaterEntry.self])
    let found = try store.read { snapshot in
      try snapshot.find(LaterEntry.self, key: 7)
    }
    #expect(
      found == LaterEntry(id: 7, title: "Title", pages: 12, stars: 5, comment: nil, tags: ["new"])
    )
  }

  /// Opens a store with the earlier schema, which is closed on return.
  private func withEarlierStore(_ body: (Store) throws -> Void) throws {
    try body(try Store(at: folder, models: [EarlierEntry.self]))
  }
}

@Model(name: "Entry")
private struct EarlierEntry {
  @PrimaryKey var id: Int64
  var heading: String
}

@Model(name: "Entry")
private struct LaterEntry: Equatable {
  @PrimaryKey var id: Int64
  @Field(renamedFrom: "heading") var title: String
  @Hot var pages: Int64 = 12
  var stars: Int64? = 5
  var comment: String?
  @Indexed var tags: Set<String> = ["new"]
}
