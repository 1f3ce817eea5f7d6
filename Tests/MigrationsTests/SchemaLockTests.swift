import DownloadStore
import Foundation
import Migrations
import ObjectStore
import Testing

/// Compares the current models with the recorded schema.
///
/// With `DLSTORE_RECORD_SCHEMA=1`, writes the files instead.
@Suite(.serialized) struct SchemaLockTests {
  init() throws {
    if SchemaFiles.isRecording { try SchemaFiles.record() }
  }

  @Test func `the lock file describes the current models`() throws {
    let lock = try JSONDecoder().decode(
      SchemaLock.self,
      from: Data(contentsOf: SchemaFiles.lock)
    )
    #expect(
      lock == SchemaFiles.current,
      """
      The models differ from Migrations/schema.lock.json. If the change is intended, follow \
      Migrations/README.md, then run `make schema`.
      """
    )
    #expect(
      try Data(contentsOf: SchemaFiles.lock) == SchemaFiles.text(of: SchemaFiles.current),
      "Migrations/schema.lock.json was edited by hand: run `make schema`."
    )
  }

  @Test func `the newest frozen schema describes the current models`() throws {
    let version = DownloadMigrations.currentVersion
    let frozen = try JSONDecoder().decode(
      FrozenSchema.self,
      from: Data(contentsOf: SchemaFiles.frozen(version))
    )
    #expect(
      frozen.schema == SchemaFiles.current,
      """
      The models differ from the frozen version \(version). Increment \
      DownloadMigrations.currentVersion and run `make schema`. Only if version \(version) was \
      never released, delete its file in Migrations/Schemas instead of incrementing the version.
      """
    )
    let next = SchemaFiles.frozen(version + 1).path
    #expect(!FileManager.default.fileExists(atPath: next), "\(next) is newer than the program")
  }

  @Test func `every frozen schema has the digest of the previous one`() throws {
    var previous: String?
    for version in 1...DownloadMigrations.currentVersion {
      let bytes = try Data(contentsOf: SchemaFiles.frozen(version))
      let frozen = try JSONDecoder().decode(FrozenSchema.self, from: bytes)
      #expect(frozen.previous == previous, "version \(version)")
      #expect(frozen.schema.version == version)
      #expect(try SchemaFiles.text(of: frozen) == bytes, "version \(version) was edited by hand")
      previous = SchemaFiles.digest(of: bytes)
    }
  }

  @Test func `no frozen schema is changed or missing`() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: SchemaFiles.frozenFolder.path)
    let digests = try names.reduce(into: [String: String]()) { digests, name in
      let bytes = try Data(contentsOf: SchemaFiles.frozenFolder.appending(path: name))
      digests[name] = SchemaFiles.digest(of: bytes)
    }
    #expect(
      try digests == SchemaFiles.releasedDigests(),
      "Migrations/Schemas differs from the released files: restore them."
    )
    #expect(digests.count == Int(DownloadMigrations.currentVersion))
  }

  @Test func `the first frozen schema has an explicit null for its predecessor`() throws {
    let frozen = FrozenSchema(previous: nil, schema: SchemaFiles.current)
    let text = String(decoding: try SchemaFiles.text(of: frozen), as: UTF8.self)
    #expect(text.contains("\"previous\" : null"))
    #expect(try JSONDecoder().decode(FrozenSchema.self, from: Data(text.utf8)) == frozen)
  }

  // MARK: Ids

  @Test func `field ids are unique and retired ids are not reused`() {
    for model in SchemaFiles.current.models {
      let ids = model.fields.map(\.id)
      #expect(Set(ids).count == ids.count, "\(model.name)")
      #expect(Set(ids).isDisjoint(with: model.retiredIDs), "\(model.name)")
      #expect(Set(model.retiredIDs).count == model.retiredIDs.count, "\(model.name)")
      // An id that is derived from a name changes with the name.
      #expect(ids.allSatisfy { $0 > 0 && $0 < 1 << 31 }, "\(model.name) has a field without an id")
    }
    let names = Set(SchemaFiles.current.models.map(\.name))
    #expect(Set(DownloadMigrations.retiredIDs.keys).isSubset(of: names))
    #expect(names.count == SchemaFiles.current.models.count)
  }

  @Test func `a released id keeps its type or is retired`() throws {
    for version in 1...DownloadMigrations.currentVersion {
      let bytes = try Data(contentsOf: SchemaFiles.frozen(version))
      let frozen = try JSONDecoder().decode(FrozenSchema.self, from: bytes)
      for model in frozen.schema.models {
        let current = try #require(
          SchemaFiles.current.models.first { $0.name == model.name },
          "the model \(model.name) is missing, so stores would lose its objects"
        )
        #expect(Set(model.retiredIDs).isSubset(of: current.retiredIDs), "\(model.name)")
        for field in model.fields {
          let now = current.fields.first { $0.id == field.id }
          let isRetired = current.retiredIDs.contains(field.id)
          #expect((now == nil) == isRetired, "\(model.name).\(field.name), id \(field.id)")
          #expect(now == nil || now?.type == field.type, "\(model.name).\(field.name)")
          #expect(now == nil || now?.primaryKey == field.primaryKey, "\(model.name).\(field.name)")
        }
      }
    }
  }

  @Test func `changing any attribute of a field changes the schema`() {
    let current = SchemaFiles.current
    let changes: [(inout SchemaLock.FieldEntry) -> Void] = [
      { $0.id += 1_000 }, { $0.name += "x" }, { $0.type = "int8" }, { $0.optional.toggle() },
      { $0.primaryKey.toggle() }, { $0.indexed.toggle() }, { $0.hot.toggle() },
    ]
    for change in changes {
      var changed = current
      change(&changed.models[0].fields[0])
      #expect(changed != current)
    }
  }

  @Test func `models and fields are sorted, independent of their order in code`() {
    let models = RecordStore.models.map { $0.schema }
    let reversed = SchemaLock(
      version: DownloadMigrations.currentVersion,
      schemas: models.reversed(),
      retiredIDs: DownloadMigrations.retiredIDs
    )
    #expect(reversed == SchemaFiles.current)
    for model in reversed.models {
      #expect(model.fields.map(\.id) == model.fields.map(\.id).sorted())
    }
    let retired = SchemaLock(version: 1, schemas: models, retiredIDs: ["Root": [9, 8]])
    #expect(retired.models.first { $0.name == "Root" }?.retiredIDs == [8, 9])
  }
}
