import SwiftSyntax
import SwiftSyntaxMacroExpansion
import Testing

@testable import MacrosUnderTest

@Suite struct ModelExpansionTests {
  @Test func `each kind of field is declared, read and written`() {
    expectExpansion(
      """
      @Model
      public struct Download {
        @PrimaryKey public var url: String
        @Indexed public var tags: Set<String> = []
        @Hot @Columnar public var received: Int64 = 0
        public let created: Date
        public var blob: Data?
        public var priority: Swift.Optional<Int> = 5
        @Field(id: 7) public var note: Optional<String> = nil
        @Field(renamedFrom: "attempts") public var attemptCount: Int = 0 {
          didSet { isSelected = false }
        }
        public var history: [Self.Step] = []
        @Transient public var isSelected = false
        public var isNew: Bool { received == 0 }
        public static let limit = 3
      }
      """,
      is: """
        public struct Download {
          public var url: String
          public var tags: Set<String> = []
          public var received: Int64 = 0
          public let created: Date
          public var blob: Data?
          public var priority: Swift.Optional<Int> = 5
          public var note: Optional<String> = nil
          public var attemptCount: Int = 0 {
            didSet { isSelected = false }
          }
          public var history: [Self.Step] = []
          public var isSelected = false
          public var isNew: Bool { received == 0 }
          public static let limit = 3
        }

        nonisolated extension Download: ObjectStoreNames.Model {
          /// The stored fields, each under its name.
          public nonisolated struct Columns: Swift.Sendable {
            /// The field `url`.
            public let url = ObjectStoreNames.Column<Download, String>(position: 0)
            /// The field `tags`.
            public let tags = ObjectStoreNames.Column<Download, Set<String>>(position: 1)
            /// The field `received`.
            public let received = ObjectStoreNames.Column<Download, Int64>(position: 2)
            /// The field `created`.
            public let created = ObjectStoreNames.Column<Download, Date>(position: 3)
            /// The field `blob`.
            public let blob = ObjectStoreNames.Column<Download, Data?>(position: 4)
            /// The field `priority`.
            public let priority = ObjectStoreNames.Column<Download, Int?>(position: 5)
            /// The field `note`.
            public let note = ObjectStoreNames.Column<Download, String?>(position: 6)
            /// The field `attemptCount`.
            public let attemptCount = ObjectStoreNames.Column<Download, Int>(position: 7)
            /// The field `history`.
            public let history = ObjectStoreNames.Column<Download, [Download.Step]>(position: 8)
          }

          /// The stored fields, for use in queries.
          public static let columns = Columns()

          /// The name and the fields under which objects are stored.
          public static let schema = ObjectStoreNames.ModelSchema(
            name: "Download",
            fields: [
              ObjectStoreNames.FieldSchema("url", String.self, isPrimaryKey: true),
              ObjectStoreNames.FieldSchema("tags", Set<String>.self, default: [], isIndexed: true),
              ObjectStoreNames.FieldSchema("received", Int64.self, default: 0, isHot: true, isColumnar: true),
              ObjectStoreNames.FieldSchema("created", Date.self),
              ObjectStoreNames.FieldSchema("blob", Data.self, isOptional: true),
              ObjectStoreNames.FieldSchema("priority", Int.self, optionalDefault: 5),
              ObjectStoreNames.FieldSchema("note", String.self, id: 7, isOptional: true),
              ObjectStoreNames.FieldSchema("attemptCount", Int.self, id: ObjectStoreNames.FieldSchema.id(forName: "attempts"), default: 0),
              ObjectStoreNames.FieldSchema("history", [Download.Step].self, default: []),
            ]
          )

          /// The value of `url`, which tells one object from another.
          public var primaryKey: String { url }

          /// Reads every stored field.
          public init(from record: borrowing ObjectStoreNames.RecordView) throws(ObjectStoreNames.RecordError) {
            url = try record.value(at: 0)
            tags = try record.value(at: 1)
            received = try record.value(at: 2)
            created = try record.value(at: 3)
            blob = try record.optional(at: 4)
            priority = try record.optional(at: 5)
            note = try record.optional(at: 6)
            attemptCount = try record.value(at: 7)
            history = try record.value(at: 8)
          }

          /// Writes every stored field.
          public func encode(to record: inout ObjectStoreNames.RecordEncoder) {
            record.encode(url)
            record.encode(tags)
            record.encode(received)
            record.encode(created)
            record.encode(blob)
            record.encode(priority)
            record.encode(note)
            record.encode(attemptCount)
            record.encode(history)
          }

          /// Where the field of a property stands, for predicates of Foundation.
          public static func fieldPosition(of property: Swift.PartialKeyPath<Download>) -> Swift.Int? {
            let properties: [Swift.PartialKeyPath<Download>] = [
              \\.url,
              \\.tags,
              \\.received,
              \\.created,
              \\.blob,
              \\.priority,
              \\.note,
              \\.attemptCount,
              \\.history,
            ]
            return properties.firstIndex(of: property)
          }
        }
        """
    )
  }

  @Test func `a compound key becomes a type and a field`() {
    let result = MacroExpander(
      expanding: """
        @Model
        public struct Seat {
          #Unique<Seat>([\\.hall, \\.ticket])
          @PrimaryKey public var hall: String
          @PrimaryKey @Field(id: 7) var `in`: Int
          @Unique public var ticket: UUID?
          @OnDelete(.cascade) public var owner: Reference<Person>
        }
        """
    )
    let id = FieldID.number(forName: "\(FieldID.number(forName: "hall")) 7")
    #expect(result.problems.isEmpty)
    #expect(
      result.expansion.hasSuffix(
        """
        nonisolated extension Seat: ObjectStoreNames.Model {
          /// The stored fields, each under its name.
          public nonisolated struct Columns: Swift.Sendable {
            /// The field `hall`.
            public let hall = ObjectStoreNames.Column<Seat, String>(position: 0)
            /// The field `in`.
            let `in` = ObjectStoreNames.Column<Seat, Int>(position: 1)
            /// The field `ticket`.
            public let ticket = ObjectStoreNames.Column<Seat, UUID?>(position: 2)
            /// The field `owner`.
            public let owner = ObjectStoreNames.Column<Seat, Reference<Person>>(position: 3)
            /// The primary key.
            public let primaryKey = ObjectStoreNames.Column<Seat, PrimaryKey>(position: 4)
          }

          /// The stored fields, for use in queries.
          public static let columns = Columns()

          /// The name and the fields under which objects are stored.
          public static let schema = ObjectStoreNames.ModelSchema(
            name: "Seat",
            fields: [
              ObjectStoreNames.FieldSchema("hall", String.self),
              ObjectStoreNames.FieldSchema("in", Int.self, id: 7),
              ObjectStoreNames.FieldSchema("ticket", UUID.self, isOptional: true, isUnique: true),
              ObjectStoreNames.FieldSchema("owner", Reference<Person>.self, onDelete: .cascade),
              ObjectStoreNames.FieldSchema("primaryKey", PrimaryKey.self, id: \(id), isPrimaryKey: true),
            ],
            indexes: [
              ObjectStoreNames.IndexSchema(on: "hall", "ticket", isUnique: true)
            ]
          )

          /// The values of `hall` and `in`, which together tell one object from another.
          public nonisolated struct PrimaryKey: ObjectStoreNames.FieldValue, Swift.Hashable {
            /// The field `hall`.
            public let hall: String
            /// The field `in`.
            let `in`: Int

            /// Makes the key of the object with those values.
            init(hall: String, `in`: Int) {
              self.hall = hall
              self.`in` = `in`
            }

            /// How the key lies on disk: its parts one after another.
            public static var fieldType: ObjectStoreNames.FieldType { .data }

            /// Reads every part.
            public init(from reader: inout ObjectStoreNames.ByteReader) throws(ObjectStoreNames.RecordError) {
              self.hall = try reader.readField()
              self.`in` = try reader.readField()
            }

            /// Writes every part.
            public func encode(to writer: inout ObjectStoreNames.ByteWriter) {
              writer.writeField(self.hall)
              writer.writeField(self.`in`)
            }
          }

          /// The values of `hall` and `in`, which tell one object from another.
          public var primaryKey: PrimaryKey {
            PrimaryKey(hall: hall, `in`: `in`)
          }

          /// Reads every stored field.
          public init(from record: borrowing ObjectStoreNames.RecordView) throws(ObjectStoreNames.RecordError) {
            hall = try record.value(at: 0)
            `in` = try record.value(at: 1)
            ticket = try record.optional(at: 2)
            owner = try record.value(at: 3)
          }

          /// Writes every stored field.
          public func encode(to record: inout ObjectStoreNames.RecordEncoder) {
            record.encode(hall)
            record.encode(`in`)
            record.encode(ticket)
            record.encode(owner)
            record.encode(primaryKey)
          }

          /// Where the field of a property stands, for predicates of Foundation.
          public static func fieldPosition(of property: Swift.PartialKeyPath<Seat>) -> Swift.Int? {
            let properties: [Swift.PartialKeyPath<Seat>] = [
              \\.hall,
              \\.`in`,
              \\.ticket,
              \\.owner,
              \\.primaryKey,
            ]
            return properties.firstIndex(of: property)
          }
        }
        """
      )
    )
  }

  @Test func `reserved property names and an explicit conformance are kept`() {
    expectExpansion(
      """
      @Model(name: "Old")
      struct New: Model {
        @PrimaryKey var primaryKey: Int
        var record: Data
        var `default`: String = "x"
      }
      """,
      is: """
        struct New: Model {
          var primaryKey: Int
          var record: Data
          var `default`: String = "x"
        }

        nonisolated extension New {
          /// The stored fields, each under its name.
          nonisolated struct Columns: Swift.Sendable {
            /// The field `primaryKey`.
            let primaryKey = ObjectStoreNames.Column<New, Int>(position: 0)
            /// The field `record`.
            let record = ObjectStoreNames.Column<New, Data>(position: 1)
            /// The field `default`.
            let `default` = ObjectStoreNames.Column<New, String>(position: 2)
          }

          /// The stored fields, for use in queries.
          static let columns = Columns()

          /// The name and the fields under which objects are stored.
          static let schema = ObjectStoreNames.ModelSchema(
            name: "Old",
            fields: [
              ObjectStoreNames.FieldSchema("primaryKey", Int.self, isPrimaryKey: true),
              ObjectStoreNames.FieldSchema("record", Data.self),
              ObjectStoreNames.FieldSchema("default", String.self, default: "x"),
            ]
          )

          /// Reads every stored field.
          init(from record: borrowing ObjectStoreNames.RecordView) throws(ObjectStoreNames.RecordError) {
            primaryKey = try record.value(at: 0)
            self.record = try record.value(at: 1)
            `default` = try record.value(at: 2)
          }

          /// Writes every stored field.
          func encode(to record: inout ObjectStoreNames.RecordEncoder) {
            record.encode(primaryKey)
            record.encode(self.record)
            record.encode(`default`)
          }

          /// Where the field of a property stands, for predicates of Foundation.
          static func fieldPosition(of property: Swift.PartialKeyPath<New>) -> Swift.Int? {
            let properties: [Swift.PartialKeyPath<New>] = [
              \\.primaryKey,
              \\.record,
              \\.`default`,
            ]
            return properties.firstIndex(of: property)
          }
        }
        """,
      macros: modelMacros.merging(["Model": MacroSpec(type: ModelMacro.self)]) { $1 }
    )
  }
}
