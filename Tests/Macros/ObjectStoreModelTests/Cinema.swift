import Foundation
import ObjectStoreModel

/// Models with references, a compound key and embedded values.
enum Cinema {
  @Embedded
  struct Address: Hashable {
    var street: String
    var city: String? = "Bonn"
    var floors: [Int16] = [0]
  }

  @Model
  struct Hall: Equatable {
    @PrimaryKey var name: String
    var address: Address
    var entrances: [Address] = []
    var prices: [Class: Decimal] = [:]
    var site: URL?
  }

  enum Class: String, FieldValue {
    case stalls
    case box
  }

  @Model
  struct Seat: Equatable {
    #Index<Seat>([\.hall, \.price])
    #Unique<Seat>([\.hall, \.label])
    @PrimaryKey @OnDelete(.cascade) var hall: Reference<Hall>
    @PrimaryKey var number: Int
    var label: String
    var price: Decimal = 9.5
    @Unique var ticket: Int?
    @OnDelete(.nullify) var neighbours: Set<Reference<Seat>> = []
    var link: Reference<Seat>?
  }
}

extension Cinema.Hall {
  static let seats = Inverse(\Cinema.Seat.Columns.hall)
}

/// A value that is stored as JSON.
struct Options: JSONFieldValue, Equatable {
  var isLoud: Bool
  var names: [String: [Int]]
}

@Model
struct Film: Equatable {
  @PrimaryKey var title: String
  var options: Options = Options(isLoud: false, names: [:])
}
