import ObjectStore
import TestSupport
import Testing

@testable import MigrationTesting

/// The verdicts of rules, compared with what happens to real stores.
///
/// Each case opens a store that an older program has written, and then lets both write.
@Suite struct SchemaVerdictTests {
  // MARK: Versions of a model

  /// The released version: `text` is required, `mood` is optional and `kind` has a default value.
  enum Base: NoteSchema {
    static let schema = note([text, mood, kind], [IndexSchema(on: "text", isUnique: true)])
  }

  private static let id = FieldSchema("id", String.self, isPrimaryKey: true)
  private static let text = FieldSchema("text", String.self)
  private static let mood = FieldSchema("mood", String.self, isOptional: true)
  private static let kind = FieldSchema("kind", String.self, default: "none")
  private static let unique = [IndexSchema(on: "text", isUnique: true)]

  private static func note(
    _ fields: [FieldSchema],
    _ indexes: [IndexSchema] = unique,
    layout: StorageLayout = .sequential
  ) -> ModelSchema {
    ModelSchema(name: "Note", fields: [id] + fields, indexes: indexes, layout: layout)
  }

  enum Added: NoteSchema {
    static let schema = note([text, mood, kind, FieldSchema("x", String.self, isOptional: true)])
  }
  enum Defaulted: NoteSchema {
    static let schema = note([text, mood, kind, FieldSchema("x", String.self, default: "")])
  }
  enum RequiredAdded: NoteSchema {
    static let schema = note([text, mood, kind, FieldSchema("x", String.self)])
  }
  enum MoodRemoved: NoteSchema { static let schema = note([text, kind]) }
  enum TextRemoved: NoteSchema { static let schema = note([mood, kind], []) }
  enum Renamed: NoteSchema {
    static let schema = note(
      [FieldSchema("body", String.self, id: text.id), mood, kind],
      [IndexSchema(on: "body", isUnique: true)]
    )
  }
  enum KindOptional: NoteSchema {
    static let schema = note([text, mood, FieldSchema("kind", String.self, isOptional: true)])
  }
  enum TextOptional: NoteSchema {
    static let schema = note([FieldSchema("text", String.self, isOptional: true), mood, kind])
  }
  enum MoodRequired: NoteSchema {
    static let schema = note([text, FieldSchema("mood", String.self, default: ""), kind])
  }
  enum MoodRequiredWithoutDefault: NoteSchema {
    static let schema = note([text, FieldSchema("mood", String.self), kind])
  }
  enum Retyped: NoteSchema {
    static let schema = note([FieldSchema("text", [String].self), mood, kind], [])
  }
  enum Rekeyed: NoteSchema {
    static let schema = ModelSchema(
      name: "Note",
      fields: [
        FieldSchema("id", String.self), FieldSchema("text", String.self, isPrimaryKey: true), mood,
        kind,
      ]
    )
  }
  enum Moved: NoteSchema {
    static let schema = note([
      text, FieldSchema("mood", String.self, isOptional: true, isHot: true), kind,
    ])
  }
  enum KindIndexed: NoteSchema {
    static let schema = note([text, mood, kind], unique + [IndexSchema(on: "kind", "mood")])
  }
  enum NotIndexed: NoteSchema { static let schema = note([text, mood, kind], []) }
  enum KindUnique: NoteSchema {
    static let schema = note(
      [text, mood, kind],
      unique + [IndexSchema(on: "kind", isUnique: true)]
    )
  }
  enum UniqueDefaulted: NoteSchema {
    static let schema = note(
      [text, mood, kind, FieldSchema("x", String.self, default: "")],
      unique + [IndexSchema(on: "x", isUnique: true)]
    )
  }
  enum UniqueOptional: NoteSchema {
    static let schema = note(
      [text, mood, kind, FieldSchema("x", String.self, isOptional: true)],
      unique + [IndexSchema(on: "x", isUnique: true)]
    )
  }
  enum TextNotUnique: NoteSchema {
    static let schema = note([text, mood, kind], [IndexSchema(on: "text")])
  }
  enum ByKey: NoteSchema { static let schema = note([text, mood, kind], layout: .byKey) }

  /// The success of an older and a newer program with one store.
  struct Outcome: Equatable, Sendable {
    /// Whether the newer program can open the store for writing.
    var opens = false
    /// Whether the newer program reads all objects of the older one.
    var readsOld = false
    /// Whether the older program can write after that.
    var olderWrites = false
    /// Whether the older program reads an object of the newer one.
    var olderReads = false

    static let compatible = Outcome(
      opens: true,
      readsOld: true,
      olderWrites: true,
      olderReads: true
    )
  }

  /// Lets a program of the base version and one of another version use one store.
  private func outcome<New: NoteSchema>(
    _ new: New.Type,
    version: UInt32,
    _ migration: Migration? = nil
  ) throws -> Outcome {
    typealias Newer = AnyNote<New>
    typealias Older = AnyNote<Base>
    let folder = try TemporaryFolder()
    var outcome = Outcome()
    let options = StoreOptions(schemaVersion: 1)
    do {
      let store = try Store(at: folder.path, models: [Older.self], options: options)
      try store.write { tx in
        for id in ["a", "b"] { try tx.insert(Older(id: id, ["text": id, "kind": "same"])) }
      }
    }
    var newer: Store?
    do {
      newer = try Store(
        at: folder.path,
        models: [Newer.self],
        options: StoreOptions(schemaVersion: version, migration: migration)
      )
      outcome.opens = true
    } catch let error as StoreError {
      #expect([.schemaMismatch, .duplicateKey].contains(error.code), "\(error)")
    }
    // These models cannot write a list.
    if let newer, migration == nil {
      outcome.readsOld = (try? newer.read { try $0.find(Newer.self, keys: ["a", "b"]) }) != nil
      // Required fields have a value, and the others none.
      let values = New.schema.fields.filter { !$0.isOptional && !$0.isPrimaryKey }
      try newer.write { tx in
        try tx.insert(
          Newer(id: "c", Dictionary(uniqueKeysWithValues: values.map { ($0.name, "c") }))
        )
      }
    }
    newer = nil
    let older: Store
    do {
      older = try Store(at: folder.path, models: [Older.self], options: options)
    } catch let error as StoreError where migration != nil && error.code == .schemaMismatch {
      return outcome
    }
    outcome.olderWrites = !older.isReadOnly
    outcome.olderReads =
      outcome.opens && (try? older.read { try $0.find(Older.self, key: "c") }) != nil
    return outcome
  }

  private func rules<New: NoteSchema>(_ new: New.Type) -> [SchemaRule] {
    SchemaComparison(
      from: SchemaDescription(of: [AnyNote<Base>.self], version: 1),
      to: SchemaDescription(of: [AnyNote<New>.self], version: 1)
    ).changes.map(\.rule)
  }

  private func verdict(_ rules: [SchemaRule]) -> SchemaVerdict? { rules.map(\.verdict).max() }

  // MARK: Verdicts

  @Test(
    arguments: [
      (Added.self, .fieldAdded), (Defaulted.self, .fieldAdded), (Renamed.self, .fieldRenamed),
      (KindOptional.self, .fieldMadeOptional), (MoodRequired.self, .fieldMadeRequired),
      (Moved.self, .fieldMoved), (NotIndexed.self, .indexRemoved),
    ] as [(any NoteSchema.Type, SchemaRule)]
  )
  func `a safe change lets both programs read and write`(
    _ new: any NoteSchema.Type,
    _ rule: SchemaRule
  ) throws {
    #expect(rules(new) == [rule] && rule.verdict == .safe)
    #expect(try outcome(new, version: 1) == .compatible)
  }

  @Test(
    arguments: [(KindIndexed.self, .indexAdded)] as [(any NoteSchema.Type, SchemaRule)]
  )
  func `a change that rebuilds lets both programs read and write`(
    _ new: any NoteSchema.Type,
    _ rule: SchemaRule
  ) throws {
    #expect(rules(new) == [rule] && rule.verdict == .rebuilds)
    #expect(try outcome(new, version: 1) == .compatible)
  }

  @Test func `another layout is applied with a higher version only`() throws {
    #expect(rules(ByKey.self) == [.layoutChanged] && SchemaRule.layoutChanged.needsHigherVersion)
    #expect(try outcome(ByKey.self, version: 1) == .compatible)
    #expect(try outcome(ByKey.self, version: 2).olderWrites == false)
  }

  @Test(
    arguments: [
      (TextOptional.self, .requiredFieldMadeOptional),
      (TextRemoved.self, .requiredFieldRemoved),
      (RequiredAdded.self, .requiredFieldAdded),
      (MoodRequiredWithoutDefault.self, .fieldMadeRequiredWithoutDefault),
    ] as [(any NoteSchema.Type, SchemaRule)]
  )
  func `without a higher version, one of the programs cannot read objects of the other`(
    _ new: any NoteSchema.Type,
    _ rule: SchemaRule
  ) throws {
    #expect(rules(new).contains(rule) && rule.needsHigherVersion)
    let outcome = try outcome(new, version: 1)
    #expect(outcome.opens && !(outcome.readsOld && outcome.olderReads))
    #expect(outcome.readsOld == (rule.verdict != .needsStep))
    // With a higher one, the older program cannot write.
    #expect(try self.outcome(new, version: 2).olderWrites == false)
  }

  @Test func `a dropped optional field costs its values and nothing else`() throws {
    #expect(rules(MoodRemoved.self) == [.fieldRemoved])
    #expect(SchemaRule.fieldRemoved.verdict == .losesData)
    #expect(try outcome(MoodRemoved.self, version: 1) == .compatible)
  }

  @Test func `a store with equal values cannot be opened with a unique index`() throws {
    #expect(rules(KindUnique.self) == [.indexMadeUnique])
    #expect(SchemaRule.indexMadeUnique.verdict == .needsStep)
    #expect(try outcome(KindUnique.self, version: 1).opens == false)
  }

  @Test func `a unique field with a default needs a step, and one without a value does not`() throws
  {
    #expect(rules(UniqueDefaulted.self) == [.fieldAdded, .uniqueFieldAdded])
    #expect(SchemaRule.uniqueFieldAdded.verdict == .needsStep)
    #expect(try outcome(UniqueDefaulted.self, version: 1).opens == false)
    #expect(rules(UniqueOptional.self) == [.fieldAdded, .indexAdded])
    #expect(try outcome(UniqueOptional.self, version: 1) == .compatible)
  }

  @Test func `an index stays unique until the version is raised`() throws {
    #expect(rules(TextNotUnique.self) == [.indexMadeNotUnique])
    for (version, accepts) in [(1, false), (2, true)] as [(UInt32, Bool)] {
      let folder = try TemporaryFolder()
      _ = try Store(
        at: folder.path,
        models: [AnyNote<Base>.self],
        options: StoreOptions(schemaVersion: 1)
      )
      let store = try Store(
        at: folder.path,
        models: [AnyNote<TextNotUnique>.self],
        options: StoreOptions(schemaVersion: version)
      )
      let write = {
        try store.write { tx in
          for id in ["a", "b"] { try tx.insert(AnyNote<TextNotUnique>(id: id, ["text": "same"])) }
        }
      }
      if accepts { try write() } else { #expect(throws: StoreError.self, performing: write) }
    }
  }

  @Test(
    arguments: [(Retyped.self, .typeChanged), (Rekeyed.self, .primaryKeyChanged)]
      as [(any NoteSchema.Type, SchemaRule)]
  )
  func `a change that needs a step cannot open the store without one, and leaves it as it was`(
    _ new: any NoteSchema.Type,
    _ rule: SchemaRule
  ) throws {
    #expect(rules(new).contains(rule) && rule.verdict == .needsStep && rule.needsHigherVersion)
    for version: UInt32 in [1, 2] {
      let outcome = try outcome(new, version: version)
      #expect(!outcome.opens && outcome.olderWrites)
    }
    let step = MigrationStep(
      "change \(rule)",
      to: 2,
      [
        .change("Note") { _, new in
          if rule == .typeChanged { new.set("text", to: ["text"]) }
        }
      ]
    )
    let outcome = try outcome(new, version: 2, Migration(steps: [step]))
    #expect(outcome.opens && !outcome.olderWrites && !outcome.olderReads)
  }
}
