import Foundation
import ObjectStore
import TestSupport

/// A model that implements `fieldPosition(of:)`, which Foundation predicates need.
struct Card: Model, Equatable {
  struct Columns: Sendable {}

  enum Suit: String, FieldValue, Codable, CaseIterable { case hearts, spades }

  struct Size: Codable, Hashable, JSONFieldValue { var width = 0 }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Card",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("rank", Int.self, isIndexed: true, isHot: true),
      FieldSchema("ratio", Double.self, isIndexed: true),
      FieldSchema("isOpen", Bool.self),
      FieldSchema("text", String.self, isIndexed: true),
      FieldSchema("nick", String.self, isOptional: true, isIndexed: true),
      FieldSchema("level", Int.self, isOptional: true, isIndexed: true),
      FieldSchema("date", Date.self, isIndexed: true),
      FieldSchema("end", Date.self, isOptional: true, isIndexed: true),
      FieldSchema("suit", Suit.self, isIndexed: true),
      FieldSchema("tags", Set<String>.self, isIndexed: true),
      FieldSchema("marks", [Double].self, isIndexed: true),
      FieldSchema("uuid", UUID.self, isIndexed: true),
      FieldSchema("size", Size.self),
    ]
  )

  var id = 0
  var rank = 0
  var ratio = 0.0
  var isOpen = false
  var text = ""
  var nick: String?
  var level: Int?
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var end: Date?
  var suit = Suit.hearts
  var tags: Set<String> = []
  var marks: [Double] = []
  var uuid = Samples.uuids[0]
  var size = Size()
  var note: String { text }
  var primaryKey: Int { id }

  static func fieldPosition(of property: PartialKeyPath<Card>) -> Int? {
    switch property {
    case \.id: 0
    case \.rank: 1
    case \.ratio: 2
    case \.isOpen: 3
    case \.text: 4
    case \.nick: 5
    case \.level: 6
    case \.date: 7
    case \.end: 8
    case \.suit: 9
    case \.tags: 10
    case \.marks: 11
    case \.uuid: 12
    case \.size: 13
    default: nil
    }
  }

  init(_ id: Int) { self.id = id }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    rank = try record.value(at: 1)
    ratio = try record.value(at: 2)
    isOpen = try record.value(at: 3)
    text = try record.value(at: 4)
    nick = try record.optional(at: 5)
    level = try record.optional(at: 6)
    date = try record.value(at: 7)
    end = try record.optional(at: 8)
    suit = try record.value(at: 9)
    tags = try record.value(at: 10)
    marks = try record.value(at: 11)
    uuid = try record.value(at: 12)
    size = try record.value(at: 13)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(rank)
    record.encode(ratio)
    record.encode(isOpen)
    record.encode(text)
    record.encode(nick)
    record.encode(level)
    record.encode(date)
    record.encode(end)
    record.encode(suit)
    record.encode(tags)
    record.encode(marks)
    record.encode(uuid)
    record.encode(size)
  }
}

extension Card {
  static let strings =
    Samples.names + [
      "K", "\u{212A}", "\u{212A}elvin", "Kelvin", ";", "\u{37E}", "a\u{301}", "\u{E1}", "a\r\n",
      "a\r",
      "\u{1100}\u{1161}", "\u{AC00}",
    ]

  static func random(_ id: Int, _ random: inout SplitMix64) -> Card {
    var card = Card(id)
    card.rank = random.element(Samples.ranks)
    card.ratio = random.element(Samples.ratios)
    card.isOpen = random.chance(50)
    card.text = random.element(strings)
    card.nick = random.optional(strings)
    card.level = random.optional([-1, 0, 1, 2, 3])
    card.date = random.element(Samples.dates)
    card.end = random.optional(Samples.dates)
    card.suit = random.element(Suit.allCases)
    for _ in 0..<Int.random(in: 0...3, using: &random) { card.tags.insert(random.element(strings)) }
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      card.marks.append(random.element(Samples.ratios))
    }
    card.uuid = random.element(Samples.uuids)
    return card
  }
}
