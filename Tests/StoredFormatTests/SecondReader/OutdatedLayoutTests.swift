import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMigration

/// A sample whose text is its length.
private struct MeasuredSample: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "KeyedSample",
    fields: Sample.fields(isColumnar: false, isIndexed: false).filter(\.isPrimaryKey)
      + [FieldSchema("size", Int64.self, isIndexed: true)],
    layout: .byKey
  )

  let key: UUID
  let size: Int64
  var primaryKey: UUID { key }

  init(from record: borrowing RecordView) throws(RecordError) {
    key = try record.value(at: 0)
    size = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(key)
    record.encode(size)
  }
}

@Suite struct OutdatedLayoutTests {
  @Test func `the second reader reads a store whose objects are being converted`() throws {
    let folder = try TemporaryFolder()
    do {
      let store = try Store(at: folder.path, models: [KeyedSample.self])
      try store.write { tx in
        for sample in Sample.samples { try tx.insert(KeyedSample(sample: sample)) }
      }
    }
    let step = MigrationStep(
      "measure the text",
      to: 2,
      mode: .whenRead,
      [
        .removeField("text", of: "KeyedSample"),
        .change("KeyedSample", fields: ["size"]) { old, new in
          new.set("size", to: Int64(try old.optional("text", as: String.self)?.utf8.count ?? 0))
        },
      ]
    )
    var options = StoreOptions(schemaVersion: 2, indexBuilding: .atOpen)
    options.migration = Migration(steps: [step])
    options.migration?.convertsInBackground = false
    let store = try Store(at: folder.path, models: [MeasuredSample.self], options: options)
    #expect(try store.conversions().map(\.model) == ["KeyedSample"])
    try expectReadable(folder.path)
    let first = try #require(Sample.samples.first)
    try store.write { tx in try tx.update(MeasuredSample.self, key: first.key) { _ in } }
    try expectReadable(folder.path)
    try store.finishConversions()
    try expectReadable(folder.path)
  }

  private func expectReadable(_ path: String) throws {
    let report = try SecondReader.read(path)
    #expect(report.problems == "")
    #expect(report.lines.count == Sample.samples.count)
  }
}
