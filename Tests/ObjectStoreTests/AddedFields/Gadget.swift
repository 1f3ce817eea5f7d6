import Foundation
import ObjectStore

/// The model `Gadget` as the first program knows it.
struct OldGadget: Model, Hashable {
  struct Columns: Sendable {
    let id = Column<OldGadget, Int>(position: 0)
    let name = Column<OldGadget, String>(position: 1)
  }
  static let columns = Columns()
  static let schema = gadget([])
  var id: Int
  var name: String
  var primaryKey: Int { id }

  init(_ id: Int) {
    self.id = id
    name = "old \(id)"
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    name = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(name)
  }

  static func gadget(
    _ fields: [FieldSchema],
    _ indexes: [IndexSchema] = [],
    _ layout: StorageLayout = .sequential
  ) -> ModelSchema {
    ModelSchema(
      name: "Gadget",
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true), FieldSchema("name", String.self),
      ] + fields,
      indexes: indexes,
      layout: layout
    )
  }
}

/// How a later version of the model declares the fields that it adds.
protocol GadgetVersion: Sendable {
  static var schema: ModelSchema { get }
}

/// A later version, with fields that have defaults.
struct Gadget<Version: GadgetVersion>: Model, Hashable {
  struct Columns: Sendable {
    let id = Column<Gadget, Int>(position: 0)
    let name = Column<Gadget, String>(position: 1)
    let level = Column<Gadget, Int>(position: 2)
    let isActive = Column<Gadget, Bool>(position: 3)
    let nick = Column<Gadget, String?>(position: 4)
    let tags = Column<Gadget, Set<String>>(position: 5)
  }
  static var columns: Columns { Columns() }
  static var schema: ModelSchema { Version.schema }
  var id: Int
  var name: String
  var level = 3
  var isActive = true
  var nick: String? = "nick"
  var tags: Set<String> = ["a", "b"]
  var primaryKey: Int { id }

  init(_ id: Int) {
    self.id = id
    name = "new \(id)"
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    name = try record.value(at: 1)
    level = try record.value(at: 2)
    isActive = try record.value(at: 3)
    nick = try record.optional(at: 4)
    tags = try record.value(at: 5)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(name)
    record.encode(level)
    record.encode(isActive)
    record.encode(nick)
    record.encode(tags)
  }
}

/// The declarations of the added fields.
enum Added {
  static func fields(
    level: Int = 3,
    isIndexed: Bool = false,
    isHot: Bool = false,
    isColumnar: Bool = false
  ) -> [FieldSchema] {
    [
      FieldSchema(
        "level",
        Int.self,
        default: level,
        isIndexed: isIndexed,
        isHot: isHot,
        isColumnar: isColumnar
      ),
      FieldSchema(
        "isActive",
        Bool.self,
        default: true,
        isIndexed: isIndexed,
        isHot: isHot,
        isColumnar: isColumnar
      ),
      FieldSchema("nick", String.self, optionalDefault: "nick", isIndexed: isIndexed, isHot: isHot),
      FieldSchema("tags", Set<String>.self, default: ["a", "b"], isIndexed: isIndexed),
    ]
  }

  enum Plain: GadgetVersion { static let schema = OldGadget.gadget(fields()) }
  enum Indexed: GadgetVersion {
    static let schema = OldGadget.gadget(
      fields(isIndexed: true),
      [IndexSchema(on: "isActive", "level")]
    )
  }
  enum Hot: GadgetVersion { static let schema = OldGadget.gadget(fields(isHot: true)) }
  enum Columnar: GadgetVersion { static let schema = OldGadget.gadget(fields(isColumnar: true)) }
  enum All: GadgetVersion {
    static let schema = OldGadget.gadget(
      fields(isIndexed: true, isHot: true, isColumnar: true)
    )
  }
  /// A program with another default.
  enum OtherDefault: GadgetVersion {
    static let schema = OldGadget.gadget(fields(level: 9, isIndexed: true))
  }
  /// A program of before defaults were stored: it has an index, and no default.
  enum WithoutDefaults: GadgetVersion {
    static let schema = OldGadget.gadget(
      [
        FieldSchema("level", Int.self, isIndexed: true, isColumnar: true),
        FieldSchema("isActive", Bool.self, isIndexed: true),
        FieldSchema("nick", String.self, isOptional: true, isIndexed: true),
        FieldSchema("tags", Set<String>.self, isIndexed: true),
      ],
      [IndexSchema(on: "isActive", "level")]
    )
  }
  enum Unique: GadgetVersion {
    static let schema = OldGadget.gadget(
      [
        FieldSchema("level", Int.self, default: 3, isUnique: true)
      ] + fields().dropFirst()
    )
  }

  static let versions: [any GadgetVersion.Type] = [
    Plain.self, Indexed.self, Hot.self, Columnar.self, All.self,
  ]
}
