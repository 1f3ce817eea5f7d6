import Foundation
import ObjectStoreModel
import OtherLibrary
import Testing

// Models beside types that are called like those of the store: those of an imported library, of this
// module, and of the model itself.

/// A type of this module.
enum PartialKeyPath {}

@Embedded
struct Place: Hashable {
  var street: String
  var number: Int?
}

@Model
struct Ticket: Equatable {
  #Index<Ticket>([\.price, \.note])
  #Unique<Ticket>([\.row, \.price])
  @PrimaryKey var row: Int
  @PrimaryKey var seat: String
  @Indexed var price: Double = 1
  var place: Place
  @Field(renamedFrom: "remark") var note: String?

  struct Column {}
  enum RecordError {}
  enum ModelSchema {}
}

enum Venue {
  enum FieldSchema {}
  enum ByteReader {}

  @Model
  struct Hall {
    @PrimaryKey var name: String
    @Hot @Columnar var visitors: Int = 0
  }
}

@Suite struct LookalikeTests {
  @Test func `an expansion uses the store's types, whatever other types are called`() {
    let ticket = Ticket(row: 3, seat: "a", place: Place(street: "Main Street", number: nil))
    #expect(ticket.primaryKey == Ticket.PrimaryKey(row: 3, seat: "a"))
    #expect(
      Ticket.schema.fields.map(\.name) == [
        "row", "seat", "price", "place", "note", "primaryKey",
      ]
    )
    #expect(Ticket.columns.note.position == 4)
    #expect(Venue.Hall.schema.name == "Hall")
  }
}
