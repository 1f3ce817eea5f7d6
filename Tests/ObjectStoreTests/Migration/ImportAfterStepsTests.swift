import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Imports into a store whose objects are converted when they are read.
@Suite struct ImportAfterStepsTests {
  private let folder: TemporaryFolder
  private let store: Store

  init() throws {
    folder = try TemporaryFolder()
    try Store(at: folder.path("store"), models: [OldTrack<InSequence>.self]).write { tx in
      for id in 1...3 { try tx.insert(OldTrack<InSequence>(Int64(id))) }
    }
    let options = StepsWhenReadTests.options()
    store = try Store(
      at: folder.path("store"),
      models: [Track<InSequence>.self],
      options: options
    )
  }

  private func load(_ object: StoredObject) throws -> ImportReport {
    var rest = [object]
    return try store.importObjects(numberedBy: .line) { rest.popLast().map { ($0, 1) } }
  }

  /// An object with the fields that every object must have.
  private func object(_ id: Int64) throws -> StoredObject {
    let model = try #require(try store.storedModels().first)
    let values: [String: StoredValue] = [
      "id": .signed(id), "title": .string("t"), "length": .signed(60), "artist": .string("a"),
      "plays": .signed(0), "skips": .signed(0),
    ]
    let fields = model.fields.compactMap { field in
      values[field.name].map {
        StoredObject.Field(id: field.id, name: field.name, type: field.type, value: $0)
      }
    }
    #expect(Set(fields.map(\.id)) == model.requiredFields)
    return StoredObject(model: "Track", fields: fields)
  }

  @Test func `an import is refused until all objects are converted`() throws {
    let busy = { (body: () throws -> Void) in
      let error = #expect(throws: StoreError.self) { try body() }
      #expect(error?.code == .busy)
    }
    busy { _ = try store.importObjects(numberedBy: .line) { nil } }
    let lines = try folder.makeFile("lines", #"{"model":"Track","fields":{"id":9}}"#)
    busy { try store.importJSONLines(from: lines) }
    try store.finishConversions()
    #expect(try load(object(9)).inserted == 1)
  }

  @Test func `a layout from before the steps neither frees a field nor is written again`() throws {
    try store.finishConversions()
    #expect(try load(object(9)).inserted == 1)
    let track = try store.read { try $0.find(Track<InSequence>.self, key: 9) }
    #expect(track?.length == 60 && track?.remark == nil && track?.rating == 3)
    #expect(try store.verify().isValid)
    try Store.readStored(store.environment) { _, schema in
      let entry = try #require(schema.model("Track"))
      // The layouts before the steps and after them: the imported object, completed, has the latter.
      #expect(entry.layouts.map(OutdatedLayouts.isMarked) == [true, false])
    }
  }
}
