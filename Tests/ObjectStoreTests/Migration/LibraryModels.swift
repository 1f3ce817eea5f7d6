import ObjectStore

/// The first version of an author.
struct Author: Model, Hashable {
  struct Columns: Sendable {
    let year = Column<Author, String>(position: 3)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Author",
    fields: [
      FieldSchema("id", Int64.self, isPrimaryKey: true),
      FieldSchema("name", String.self),
      FieldSchema("mail", String.self, isOptional: true),
      FieldSchema("year", String.self, isIndexed: true),
      FieldSchema("isDeleted", Bool.self),
      FieldSchema("views", Int64.self, isHot: true),
    ]
  )

  var id: Int64
  var name: String
  var mail: String?
  var year: String
  var isDeleted = false
  var views: Int64 = 0
  var primaryKey: Int64 { id }

  init(_ id: Int64) {
    self.id = id
    name = "Given\(id % 7) Family\(id)"
    mail = id % 3 == 0 ? nil : "\(id)@example.com"
    year = "\(1_900 + id % 100)"
    isDeleted = id % 10 == 9
    views = id * 3
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    name = try record.value(at: 1)
    mail = try record.optional(at: 2)
    year = try record.value(at: 3)
    isDeleted = try record.value(at: 4)
    views = try record.value(at: 5)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(name)
    record.encode(mail)
    record.encode(year)
    record.encode(isDeleted)
    record.encode(views)
  }
}

/// A version of an author whose mail has a default value.
struct MailedAuthor: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Author",
    fields: [
      FieldSchema("id", Int64.self, isPrimaryKey: true),
      FieldSchema("mail", String.self, default: "none"),
    ]
  )

  var id: Int64
  var mail: String
  var primaryKey: Int64 { id }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    mail = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(mail)
  }
}

/// The second version of an author.
struct Person: Model, Hashable {
  struct Columns: Sendable {
    let familyName = Column<Person, String>(position: 2)
    let year = Column<Person, Int64>(position: 4)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Person",
    fields: [
      FieldSchema("id", Int64.self, isPrimaryKey: true),
      FieldSchema("givenName", String.self),
      FieldSchema("familyName", String.self, isIndexed: true),
      FieldSchema("email", String.self, isOptional: true, isUnique: true),
      FieldSchema("year", Int64.self, isIndexed: true),
      FieldSchema("views", Int64.self, isHot: true),
    ]
  )

  var id: Int64
  var givenName: String
  var familyName: String
  var email: String?
  var year: Int64
  var views: Int64
  var primaryKey: Int64 { id }

  /// What the steps make of an author.
  init(_ author: Author) {
    let names = author.name.split(separator: " ")
    id = author.id
    givenName = String(names[0])
    familyName = String(names[1])
    email = author.mail
    year = Int64(author.year) ?? 0
    views = author.views
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    givenName = try record.value(at: 1)
    familyName = try record.value(at: 2)
    email = try record.optional(at: 3)
    year = try record.value(at: 4)
    views = try record.value(at: 5)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(givenName)
    record.encode(familyName)
    record.encode(email)
    record.encode(year)
    record.encode(views)
  }
}

/// The third version, with another primary key and storage layout.
struct Member: Model, Hashable {
  struct Columns: Sendable {
    let year = Column<Member, Int64>(position: 2)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Member",
    fields: [
      FieldSchema("name", String.self, isPrimaryKey: true),
      FieldSchema("number", Int64.self),
      FieldSchema("year", Int64.self, isIndexed: true),
    ],
    layout: .byKey
  )

  var name: String
  var number: Int64
  var year: Int64
  var primaryKey: String { name }

  /// What the steps make of a person.
  init(_ person: Person) {
    name = "\(person.familyName), \(person.givenName)"
    number = person.id
    year = person.year
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    name = try record.value(at: 0)
    number = try record.value(at: 1)
    year = try record.value(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(name)
    record.encode(number)
    record.encode(year)
  }
}

/// An address book entry that refers to an author, and later to a person.
struct Card<Owner: Model>: Model where Owner.PrimaryKey == Int64 {
  struct Columns: Sendable {}
  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Card",
      fields: [
        FieldSchema("id", Int64.self, isPrimaryKey: true),
        FieldSchema("owner", Reference<Owner>.self, onDelete: .deny),
      ]
    )
  }

  var id: Int64
  var owner: Reference<Owner>
  var primaryKey: Int64 { id }

  init(_ id: Int64, owner: Int64) {
    self.id = id
    self.owner = Reference(owner)
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    owner = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(owner)
  }
}

/// The steps between the versions.
enum LibrarySteps {
  static let toPerson = MigrationStep(
    "split the names of authors",
    to: 2,
    [
      .renameModel("Author", to: "Person"),
      .renameField("mail", of: "Person", to: "email"),
      .change("Person") { old, new in
        if try old.value("isDeleted") { return new.remove() }
        let names = try old.value("name", as: String.self).split(separator: " ")
        new.set("givenName", to: String(names[0]))
        new.set("familyName", to: String(names[1]))
        new.set("year", to: Int64(try old.value("year", as: String.self)))
      },
      .removeField("name", of: "Person"),
      .removeField("isDeleted", of: "Person"),
    ]
  )

  static let toMember = MigrationStep(
    "name members by their names",
    to: 3,
    [
      .change("Person") { old, new in
        new.model = "Member"
        new.renameField("id", to: "number")
        let names: (String, String) = (try old.value("familyName"), try old.value("givenName"))
        new.set("name", to: "\(names.0), \(names.1)")
        for name in ["givenName", "familyName", "email", "views"] { new.removeField(name) }
      },
      .removeModel("Person"),
    ]
  )

  static let all = [toPerson, toMember]
}
