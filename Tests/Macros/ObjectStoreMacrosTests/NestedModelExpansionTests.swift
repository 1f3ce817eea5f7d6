import Testing

@testable import MacrosUnderTest

/// Tests the expansion of models in other types and extensions, and access levels.
@Suite struct NestedModelExpansionTests {
  @Test func `a nested struct declares members that use sibling types inside the struct`() {
    expectExpansion(
      """
      package enum Library {
        @Model
        package struct Book {
          @PrimaryKey package var id: ID
        }
      }
      """,
      is: """
        package enum Library {
          package struct Book {
            package var id: ID

            /// The stored fields, each under its name.
            package nonisolated struct Columns: Swift.Sendable {
              /// The field `id`.
              package let id = ObjectStoreNames.Column<Book, ID>(position: 0)
            }

            /// The stored fields, for use in queries.
            package nonisolated static let columns = Columns()

            /// The name and the fields under which objects are stored.
            package nonisolated static let schema = ObjectStoreNames.ModelSchema(
              name: "Book",
              fields: [
                ObjectStoreNames.FieldSchema("id", ID.self, isPrimaryKey: true)
              ]
            )

            /// The value of `id`, which tells one object from another.
            package nonisolated var primaryKey: ID { id }
          }
        }

        nonisolated extension Library.Book: ObjectStoreNames.Model {
          /// Reads every stored field.
          package init(from record: borrowing ObjectStoreNames.RecordView) throws(ObjectStoreNames.RecordError) {
            id = try record.value(at: 0)
          }

          /// Writes every stored field.
          package func encode(to record: inout ObjectStoreNames.RecordEncoder) {
            record.encode(id)
          }

          /// Where the field of a property stands, for predicates of Foundation.
          package static func fieldPosition(of property: Swift.PartialKeyPath<Library.Book>) -> Swift.Int? {
            let properties: [Swift.PartialKeyPath<Library.Book>] = [
              \\.id
            ]
            return properties.firstIndex(of: property)
          }
        }
        """
    )
  }

  @Test(arguments: [
    ("public", "public", "public "), ("public", "package", "package "), ("public", "", ""),
    ("public", "private", "fileprivate "), ("public", "public private(set)", "public "),
    ("package", "public", "package "), ("", "public", ""), ("internal", "internal", ""),
    ("fileprivate", "public", "fileprivate "), ("private", "", "fileprivate "),
  ])
  func `a column has the narrower access level of its property and the struct`(
    struct: String,
    property: String,
    column: String
  ) {
    let result = MacroExpander(
      expanding: "@Model \(`struct`) struct Note {\n@PrimaryKey \(property) var id: Int\n}"
    )
    #expect(result.problems.isEmpty)
    let id = "\(column)let id = ObjectStoreNames.Column<Note, Int>(position: 0)"
    #expect(result.expansion.contains("\n    \(id)\n"))
  }

  @Test func `a struct has the access level of its enclosing extension`() {
    let result = MacroExpander(
      expanding: "public extension Library { @Model struct Note {\n@PrimaryKey var id: Int\n} }"
    )
    #expect(result.expansion.contains("public nonisolated static let schema"))
  }

  @Test func `the conformance has the availability of the struct`() {
    let result = MacroExpander(
      expanding: """
        @available(macOS 26, *)
        enum Library {
          @available(iOS 26, *)
          @Model struct Note {
            @PrimaryKey var id: Int
          }
        }
        """
    )
    #expect(
      result.expansion.contains(
        """
        @available(iOS 26, *)
        @available(macOS 26, *)
        nonisolated extension Library.Note: ObjectStoreNames.Model {
        """
      )
    )
  }
}
