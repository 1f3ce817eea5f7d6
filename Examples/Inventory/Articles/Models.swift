import Foundation
import ObjectStoreModel

@Model
struct Author: Equatable {
  @PrimaryKey var id: Int
  @Indexed var name: String
  var born: Int?
}

@Model
struct Book: Equatable {
  #Index<Book>([\.genre, \.year])

  @PrimaryKey var isbn: String
  @Indexed var title: String
  @OnDelete(.deny) var author: Reference<Author>
  var genre: Genre = .novel
  var year: Int
  @Indexed var tags: Set<String> = []
  @Hot var copies: Int = 1
  var price: Decimal?
}

enum Genre: String, FieldValue {
  case novel, poetry, science
}

@Model
struct Loan: Equatable {
  #Unique<Loan>([\.book, \.copy])

  @PrimaryKey var id: UUID
  @OnDelete(.cascade) var book: Reference<Book>
  var copy: Int
  var reader: String
  @Indexed var due: Date
  var address: Address?
  @Field(renamedFrom: "comment") var notes: String?
  @Transient var isSelected = false
}

@Embedded
struct Address: Hashable {
  var street: String
  var city: String
}

@Model
struct Measurement {
  @PrimaryKey var id: Int64
  @Columnar var value: Double
  @Columnar @Hot var checks: Int64 = 0
  var note: String
}

extension Author {
  static let books = Inverse(\Book.Columns.author)
}
