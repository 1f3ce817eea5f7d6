package import Foundation
package import ObjectStoreModel

/// A model whose type has another name than its objects in the store.
@Model(name: "Note")
package struct Memo {
  @PrimaryKey package var primaryKey: UUID
  var record: Data
  var `default`: String = "default"
  fileprivate var draft: String = ""

  // Uses the import for the compiler's sake: it does not see that the expansion does, and warns
  // (swiftlang/swift#86376).
  package static func field(of column: Column<Memo, UUID>) -> FieldSchema {
    schema.fields[column.position]
  }
}
