import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMigration

/// Samples by key, without indexes.
private struct PlainSample: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "KeyedSample",
    fields: Sample.fields(isColumnar: false, isIndexed: false),
    layout: .byKey
  )

  let sample: Sample
  var primaryKey: UUID { sample.key }

  init(sample: Sample) { self.sample = sample }

  init(from record: borrowing RecordView) throws(RecordError) {
    sample = try Sample(from: record)
  }

  func encode(to record: inout RecordEncoder) { sample.encode(to: &record) }
}

@Suite struct IndexBuildTests {
  @Test func `the second reader reads a store whose indexes are being built`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [PlainSample.self])
    try store.write { tx in
      for sample in Sample.samples { try tx.insert(PlainSample(sample: sample)) }
    }
    let environment = try Environment.open(folder.path)
    try StoreOpening.beginSchemaChange(
      of: environment,
      models: [KeyedSample.self],
      options: StoreOptions(indexBuilding: .inBackground(above: 1))
    )
    #expect(try store.indexBuilds().count > 10)
    var worker = IndexBuildWorker(environment, memoryLimit: 50)
    for _ in 0..<12 {
      _ = try worker.step()
      let report = try SecondReader.read(folder.path)
      #expect(report.problems == "")
      #expect(report.lines.count == Sample.samples.count)
    }
  }

  @Test func `the second reader finds a missing entry of an object before the position`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [PlainSample.self])
    try store.write { tx in
      for sample in Sample.samples { try tx.insert(PlainSample(sample: sample)) }
    }
    let environment = try Environment.open(folder.path)
    try StoreOpening.beginSchemaChange(
      of: environment,
      models: [KeyedSample.self],
      options: StoreOptions(indexBuilding: .inBackground(above: 1))
    )
    let schema = try StoredSchema(environment)
    var transaction = try environment.beginWrite()
    var build = try schema.metadata.indexBuilds(in: transaction)[0]
    build.next = .max
    try schema.metadata.set(build.encoded, for: build.key, in: &transaction)
    try transaction.commit()
    let report = try SecondReader.read(folder.path)
    #expect(report.status == 65)
    #expect(report.problems.contains("KeyedSample/keyed/index/\(build.index.id): the entry "))
  }
}
