import Foundation
import ObjectStore
import Testing

@testable import MigrationTesting

/// The rules of changes, for descriptions that differ in one respect.
@Suite struct SchemaComparisonTests {
  /// A schema with a field of each kind.
  private static let base = SchemaDescription(
    version: 3,
    models: [
      SchemaDescription.Model(
        name: "Note",
        fields: [
          field(1, "id") { $0.isPrimaryKey = true },
          field(2, "text"),
          field(3, "mood") { $0.isOptional = true },
          field(4, "stars") { ($0.type, $0.hasDefault, $0.isColumnar) = ("int64", true, true) },
          field(5, "author") { $0.reference = .init(target: "Person", onDelete: .deny) },
        ],
        indexes: [
          SchemaDescription.Index(fieldIDs: [2], isUnique: true),
          SchemaDescription.Index(fieldIDs: [3, 4], isUnique: false),
        ],
        layout: .sequential,
        retiredIDs: [9]
      ),
      SchemaDescription.Model(
        name: "Person",
        fields: [field(1, "name") { $0.isPrimaryKey = true }],
        indexes: [],
        layout: .byKey,
        retiredIDs: []
      ),
    ]
  )

  private static func field(
    _ id: UInt32,
    _ name: String,
    _ change: (inout SchemaDescription.Field) -> Void = { _ in }
  ) -> SchemaDescription.Field {
    var field = SchemaDescription.Field(
      id: id,
      name: name,
      type: "string",
      isOptional: false,
      hasDefault: false,
      isPrimaryKey: false,
      isHot: false,
      isColumnar: false
    )
    change(&field)
    return field
  }

  /// A change of the base, and the rules under which it falls.
  struct Case: Sendable, CustomTestStringConvertible {
    var rules: [SchemaRule]
    var subject: String
    var change: @Sendable (inout SchemaDescription) -> Void

    init(
      _ rules: SchemaRule...,
      on subject: String,
      _ change: @escaping @Sendable (inout SchemaDescription) -> Void
    ) {
      (self.rules, self.subject, self.change) = (rules, subject, change)
    }

    /// A change of the model Note.
    init(
      _ rules: SchemaRule...,
      note subject: String,
      _ change: @escaping @Sendable (inout SchemaDescription.Model) -> Void
    ) {
      self.rules = rules
      self.subject = subject
      self.change = { change(&$0.models[0]) }
    }

    var testDescription: String { "\(rules.map(\.rawValue)) \(subject)" }
  }

  private static let cases = [
    Case(.modelAdded, on: "Place") { schema in
      schema.models.append(
        SchemaDescription.Model(
          name: "Place",
          fields: [field(1, "id") { $0.isPrimaryKey = true }],
          indexes: [],
          layout: .sequential,
          retiredIDs: []
        )
      )
    },
    Case(.modelRemoved, on: "Person") { $0.models.removeLast() },
    Case(.layoutChanged, note: "Note") { $0.layout = .byKey },
    Case(.fieldAdded, note: "Note.remark") {
      $0.fields.append(field(6, "remark") { $0.isOptional = true })
    },
    Case(.fieldAdded, note: "Note.remark") {
      $0.fields.append(field(6, "remark") { $0.hasDefault = true })
    },
    Case(.requiredFieldAdded, note: "Note.remark") { $0.fields.append(field(6, "remark")) },
    Case(.fieldRemoved, .indexRemoved, note: "Note.mood") {
      $0.fields.remove(at: 2)
      $0.indexes.removeLast()
    },
    Case(.requiredFieldRemoved, note: "Note.author") { $0.fields.removeLast() },
    Case(.fieldRenamed, note: "Note.body") { $0.fields[1].name = "body" },
    Case(.fieldMadeOptional, note: "Note.stars") { $0.fields[3].isOptional = true },
    Case(.requiredFieldMadeOptional, note: "Note.text") { $0.fields[1].isOptional = true },
    Case(.fieldMadeRequired, note: "Note.mood") {
      ($0.fields[2].isOptional, $0.fields[2].hasDefault) = (false, true)
    },
    Case(.fieldMadeRequiredWithoutDefault, note: "Note.mood") { $0.fields[2].isOptional = false },
    Case(.defaultChanged, note: "Note.text") { $0.fields[1].hasDefault = true },
    Case(.defaultChanged, note: "Note.mood") { $0.fields[2].hasDefault = true },
    Case(.defaultChanged, note: "Note.stars") { $0.fields[3].hasDefault = false },
    Case(.typeChanged, note: "Note.text") { $0.fields[1].type = "data" },
    Case(.primaryKeyChanged, note: "Note.text") {
      ($0.fields[0].isPrimaryKey, $0.fields[1].isPrimaryKey) = (false, true)
    },
    Case(.fieldMoved, note: "Note.stars") { $0.fields[3].isHot = true },
    Case(.retiredIDReused, note: "Note.again") {
      $0.fields.append(field(9, "again") { $0.isOptional = true })
    },
    Case(.indexAdded, note: "Note(mood)") {
      $0.indexes.append(SchemaDescription.Index(fieldIDs: [3], isUnique: false))
    },
    Case(.indexMadeUnique, note: "Note(mood)") {
      $0.indexes.append(SchemaDescription.Index(fieldIDs: [3], isUnique: true))
    },
    Case(.fieldAdded, .uniqueFieldAdded, note: "Note.remark") {
      $0.fields.append(field(6, "remark") { $0.hasDefault = true })
      $0.indexes.append(SchemaDescription.Index(fieldIDs: [6], isUnique: true))
    },
    // A new field that has no value makes no conflict, and one beside an old field may.
    Case(.fieldAdded, .indexAdded, note: "Note.remark") {
      $0.fields.append(field(6, "remark") { $0.isOptional = true })
      $0.indexes.append(SchemaDescription.Index(fieldIDs: [3, 6], isUnique: true))
    },
    Case(.fieldAdded, .indexMadeUnique, note: "Note.remark") {
      $0.fields.append(field(6, "remark") { $0.hasDefault = true })
      $0.indexes.append(SchemaDescription.Index(fieldIDs: [3, 6], isUnique: true))
    },
    Case(.indexRemoved, note: "Note(mood, stars)") { $0.indexes.removeLast() },
    Case(.indexMadeUnique, note: "Note(mood, stars)") { $0.indexes[1].isUnique = true },
    Case(.indexMadeNotUnique, note: "Note(text)") { $0.indexes[0].isUnique = false },
    Case(.columnAdded, note: "Note.mood") { $0.fields[2].isColumnar = true },
    Case(.columnRemoved, note: "Note.stars") { $0.fields[3].isColumnar = false },
    Case(.referenceAdded, note: "Note.text") {
      $0.fields[1].reference = .init(target: "Person", onDelete: .deny)
    },
    Case(.referenceChanged, note: "Note.author") { $0.fields[4].reference?.onDelete = .cascade },
    Case(.referenceChanged, note: "Note.author") { $0.fields[4].reference?.target = "Place" },
    Case(.referenceChanged, note: "Note.author") { $0.fields[4].reference = nil },
    Case(.versionRaised, on: "version 4") { $0.version = 4 },
    Case(.versionLowered, on: "version 2") { $0.version = 2 },
  ]

  @Test(arguments: cases) func `a difference falls under its rule`(_ one: Case) {
    var new = Self.base
    one.change(&new)
    let changes = SchemaComparison(
      from: Self.base,
      to: SchemaDescription(version: new.version, models: new.models)
    ).changes
    #expect(changes.map(\.rule) == one.rules)
    #expect(changes.first?.subject == one.subject)
    #expect(changes.allSatisfy { !$0.effect.isEmpty && !$0.effect.hasSuffix(".") })
  }

  @Test func `there is a case for every rule but one`() {
    let covered = Set(Self.cases.flatMap(\.rules))
    // It depends on earlier releases.
    #expect(Set(SchemaRule.allCases).subtracting(covered) == [.neededDefaultRemoved])
  }

  @Test func `equal schemas have no differences`() {
    #expect(SchemaComparison(from: Self.base, to: Self.base).changes.isEmpty)
  }

  @Test func `a default value is needed while an earlier release lacks the field`() {
    var first = Self.base
    first.models[0].fields.remove(at: 3)
    var new = Self.base
    new.models[0].fields[3].hasDefault = false
    let comparison = SchemaComparison(from: Self.base, to: new, releases: [first, Self.base])
    #expect(comparison.changes.map(\.rule) == [.neededDefaultRemoved])
  }

  /// The id of a field, its names in two releases, and the attribute that keeps its id.
  @Test(arguments: [
    (FieldSchema.id(forName: "mood"), "mood", "mood", "@Field(renamedFrom: \"mood\")"),
    (FieldSchema.id(forName: "mood"), "mood", "temper", "@Field(renamedFrom: \"mood\")"),
    (3, "mood", "mood", "@Field(id: 3)"),
  ])
  func `a dropped field beside a new one of its type hints at the attribute for a renaming`(
    id: UInt32,
    first: String,
    second: String,
    attribute: String
  ) {
    func release(_ id: UInt32, _ name: String) -> SchemaDescription {
      var schema = Self.base
      schema.models[0].indexes = []
      schema.models[0].fields[2] = Self.field(id, name) { $0.isOptional = true }
      return schema
    }
    let releases = [release(id, first), release(id, second)]
    let changes =
      SchemaComparison(from: releases[1], to: release(7, "feeling"), releases: releases).changes
    let removed = changes.first { $0.rule == .fieldRemoved }
    #expect(removed?.effect.hasSuffix("; if it is feeling now, write \(attribute)") == true)
  }

  @Test(arguments: [true, false])
  func `a change of a type or a primary key says that older programs cannot open the store`(
    ofKey: Bool
  ) {
    var after = Self.base
    after.version = 4
    if ofKey {
      after.models[0].fields[0].isPrimaryKey = false
      after.models[0].fields[1].isPrimaryKey = true
    } else {
      after.models[0].fields[1].type = "data"
    }
    let effects = SchemaComparison(from: Self.base, to: after).changes.map(\.effect)
    #expect(effects[0].contains("older programs cannot open the store at all once it is migrated"))
    #expect(effects[0].contains("a step when read") == !ofKey)
    let last = "and those that use Note cannot open it at all once it is migrated"
    #expect(effects.last?.hasSuffix(last) == true)
  }

  @Test func `the number of objects of a store is part of the effect`() {
    var new = Self.base
    new.models[0].indexes.append(SchemaDescription.Index(fieldIDs: [4], isUnique: false))
    let comparison = SchemaComparison(from: Self.base, to: new, objectCounts: ["Note": 1_000])
    #expect(comparison.changes.first?.description.contains("the index of 1000 objects") == true)
  }

  @Test func `a file of the first form says nothing of what it does not describe`() {
    let old = SchemaDescription(version: 3, models: Self.base.models, isComplete: false)
    var new = Self.base
    new.models[0].layout = .byKey
    new.models[0].fields[1].hasDefault = true
    new.models[0].fields[2].isColumnar = true
    new.models[0].fields[4].reference = nil
    new.models[0].indexes[1].isUnique = true
    #expect(SchemaComparison(from: old, to: new).changes.isEmpty)
  }

  @Test func `the documentation lists every rule with its verdict`() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Sources/MigrationTesting/MigrationTesting.docc/CheckingASchema.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
    let rules = SchemaRule.allCases.map { rule in
      "| ``SchemaRule/\(rule)`` | \(rule.verdict.words) |\(rule.needsHigherVersion ? " yes" : "") |"
    }
    #expect(lines.filter { $0.hasPrefix("| ``") } == rules.map { Substring($0) })
  }
}
