import Foundation
import ObjectStoreModel

/// A product, and the number of pieces in stock.
@Model
struct Item: Equatable {
  /// Serves `list --place`, sorted by name.
  #Index<Item>([\.place, \.name])

  @PrimaryKey var id: UUID
  /// The number printed on the shelf, which may change; the id never does.
  @Unique var sku: String
  @Indexed var name: String
  /// Changes with every movement, so it is stored apart from the fields that rarely change.
  @Hot var quantity: Int
  /// A place with items cannot be removed.
  @OnDelete(.deny) var place: Reference<Place>
  @Indexed var tags: Set<String> = []
  var price: Decimal?
  var notes: String?

  /// The value of all pieces; 0 without a price.
  var value: Decimal { (price ?? 0) * Decimal(quantity) }
}
