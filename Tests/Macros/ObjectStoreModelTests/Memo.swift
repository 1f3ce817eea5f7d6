package import Foundation
package import ObjectStoreModel

/// A model whose stored name differs from the name of its type.
@Model(name: "Note")
package struct Memo {
  @PrimaryKey package var primaryKey: UUID
  var record: Data
  var `default`: String = "default"
  fileprivate var draft: String = ""

  // Uses the import explicitly, because the compiler ignores its use in the expansion and warns
  // (swiftlang/swift#86376).
  package static func field(of column: Column<Memo, UUID>) -> FieldSchema {
    schema.fields[column.position]
  }
}
