import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMigration

/// What prevents steps from being applied when objects are read.
@Suite struct StepObstacleTests {
  private static let schema = Track<InSequence>.schema
  private static let old = OldTrack<InSequence>.schema

  private func field(_ name: String, in schema: ModelSchema = old) throws -> FieldSchema {
    try #require(schema.fields.first { $0.name == name })
  }

  /// The stored model before the step.
  private func stored(
    _ schema: ModelSchema = old,
    indexes: [IndexDescription] = [],
    columns: [ColumnDescription] = [],
    references: [ReferenceRule] = []
  ) -> StepsWhenRead.Stored {
    StepsWhenRead.Stored(
      name: "Track",
      layouts: [RecordLayout(schema)],
      names: Dictionary(uniqueKeysWithValues: schema.fields.map { ($0.id, $0.name) }),
      indexes: indexes,
      columns: columns,
      references: references
    )
  }

  /// The reason why a step that changes some fields is applied at open.
  private func obstacle(
    to fields: [String] = ["length"],
    _ stored: StepsWhenRead.Stored,
    _ schema: ModelSchema? = schema
  ) throws -> String? {
    let step = MigrationStep(
      "change",
      to: 2,
      mode: .whenRead,
      [.change("Track", fields: fields) { _, _ in }]
    )
    return try #require(StepsWhenRead([step])).obstacle(stored, schema)
  }

  private func index(_ name: String, isUnique: Bool) throws -> IndexDescription {
    let field = try field(name)
    return IndexDescription(parts: [.init(fieldID: field.id, type: field.type)], isUnique: isUnique)
  }

  @Test func `nothing prevents a step that changes plain fields`() throws {
    #expect(try obstacle(stored()) == nil)
    #expect(try obstacle(stored(indexes: [index("length", isUnique: false)])) == nil)
    #expect(try obstacle(stored(indexes: [index("title", isUnique: true)])) == nil)
  }

  @Test func `steps of which one is applied at open are all applied at open`() {
    #expect(StepsWhenRead([TrackSteps.second(.atOpen)]) == nil)
    #expect(StepsWhenRead([TrackSteps.second(), TrackSteps.third(.atOpen)]) == nil)
    #expect(StepsWhenRead([TrackSteps.second(), TrackSteps.third()]) != nil)
  }

  @Test func `a program that does not declare the model cannot read it`() throws {
    #expect(try obstacle(stored(), nil)?.contains("does not declare") == true)
  }

  @Test func `a model that is stored in another layout is converted at open`() throws {
    let reason = try obstacle(stored(), Track<InKeyOrder>.schema)
    #expect(reason?.contains("another layout") == true)
  }

  @Test func `a step that changes the primary key is applied at open`() throws {
    #expect(try obstacle(to: ["id"], stored())?.contains("changes the primary key") == true)
  }

  @Test func `a model that gets another primary key is converted at open`() throws {
    let other = ModelSchema(
      name: "Track",
      fields: [
        FieldSchema("number", Int64.self, isPrimaryKey: true),
        FieldSchema("length", Int64.self),
      ]
    )
    #expect(try obstacle(stored(), other)?.contains("another primary key") == true)
  }

  @Test func `a step that changes a unique field is applied at open`() throws {
    let reason = try obstacle(stored(indexes: [index("length", isUnique: true)]))
    #expect(reason?.contains("unique index") == true)
  }

  @Test func `a step that changes a field with a column is applied at open`() throws {
    let plays = try field("plays")
    let columns = [ColumnDescription(fieldID: plays.id, type: plays.type)]
    let reason = try obstacle(to: ["plays"], stored(columns: columns))
    #expect(reason?.contains("has a column") == true)
    #expect(try obstacle(to: ["length"], stored(columns: columns)) == nil)
  }

  @Test func `a step that changes a reference is applied at open`() throws {
    let note = try field("note")
    let rule = ReferenceRule(model: "Track", fieldID: note.id, target: "Note", onDelete: .nullify)
    let reason = try obstacle(to: ["note"], stored(references: [rule]))
    #expect(reason?.contains("changes a reference") == true)
    #expect(try obstacle(to: ["length"], stored(references: [rule])) == nil)
  }
}
