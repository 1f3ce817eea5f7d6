import Foundation
import ObjectStore

/// A model with many indexes.
///
/// ``PlainItem`` has the same fields without indexes.
struct Item: Equatable, Sendable {
  var id: Int
  var rank: Int
  var score: Double
  var name: String
  var colour: Colour
  var priority: Priority
  var nick: String?
  var age: Int?
  var tags: Set<String>
  var marks: [Double]
}

protocol ItemModel: Model where PrimaryKey == Int, Columns == ItemColumns<Self> {
  var item: Item { get }
  init(item: Item)
}

struct ItemColumns<Root: Model>: Sendable {
  let id = Column<Root, Int>(position: 0)
  let rank = Column<Root, Int>(position: 1)
  let score = Column<Root, Double>(position: 2)
  let name = Column<Root, String>(position: 3)
  let colour = Column<Root, Colour>(position: 4)
  let priority = Column<Root, Priority>(position: 5)
  let nick = Column<Root, String?>(position: 6)
  let age = Column<Root, Int?>(position: 7)
  let tags = Column<Root, Set<String>>(position: 8)
  let marks = Column<Root, [Double]>(position: 9)
}

extension ItemModel {
  static func makeSchema(_ name: String, isIndexed: Bool) -> ModelSchema {
    ModelSchema(
      name: name,
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema("rank", Int.self, isIndexed: isIndexed, isHot: true),
        FieldSchema("score", Double.self, isIndexed: isIndexed),
        FieldSchema("name", String.self, isIndexed: isIndexed),
        FieldSchema("colour", Colour.self, isIndexed: isIndexed),
        FieldSchema("priority", Priority.self, isIndexed: isIndexed),
        FieldSchema("nick", String.self, isOptional: true, isIndexed: isIndexed),
        FieldSchema("age", Int.self, isOptional: true, isIndexed: isIndexed, isHot: true),
        FieldSchema("tags", Set<String>.self, isIndexed: isIndexed),
        FieldSchema("marks", [Double].self, isIndexed: isIndexed),
      ]
    )
  }

  var primaryKey: Int { item.id }

  init(from record: borrowing RecordView) throws(RecordError) {
    self.init(
      item: Item(
        id: try record.value(at: 0),
        rank: try record.value(at: 1),
        score: try record.value(at: 2),
        name: try record.value(at: 3),
        colour: try record.value(at: 4),
        priority: try record.value(at: 5),
        nick: try record.optional(at: 6),
        age: try record.optional(at: 7),
        tags: try record.value(at: 8),
        marks: try record.value(at: 9)
      )
    )
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(item.id)
    record.encode(item.rank)
    record.encode(item.score)
    record.encode(item.name)
    record.encode(item.colour)
    record.encode(item.priority)
    record.encode(item.nick)
    record.encode(item.age)
    record.encode(item.tags)
    record.encode(item.marks)
  }
}

extension Item: ItemModel {
  static let columns = ItemColumns<Item>()
  static let schema = makeSchema("Item", isIndexed: true)
  var item: Item { self }
  init(item: Item) { self = item }
}

struct PlainItem: ItemModel {
  static let columns = ItemColumns<PlainItem>()
  static let schema = makeSchema("PlainItem", isIndexed: false)
  let item: Item
}
