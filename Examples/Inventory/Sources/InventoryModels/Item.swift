package import Foundation
package import ObjectStoreModel

/// A product, and the number of pieces in stock.
@Model
package struct Item: Equatable {
  /// Serves `list --place`, sorted by name.
  #Index<Item>([\.place, \.name])

  @PrimaryKey package var id: UUID
  /// The number printed on the shelf, which may change; the id never does.
  @Unique package var sku: String
  @Indexed package var name: String
  /// Changes with every movement, so it is stored apart from the fields that rarely change.
  @Hot package var quantity: Int
  /// A place with items cannot be removed.
  @OnDelete(.deny) package var place: Reference<Place>
  @Indexed package var tags: Set<String> = []
  package var price: Decimal?
  package var notes: String?

  package init(
    id: UUID,
    sku: String,
    name: String,
    quantity: Int,
    place: Reference<Place>,
    tags: Set<String> = [],
    price: Decimal? = nil,
    notes: String? = nil
  ) {
    self.id = id
    self.sku = sku
    self.name = name
    self.quantity = quantity
    self.place = place
    self.tags = tags
    self.price = price
    self.notes = notes
  }

  /// The value of all pieces; 0 without a price.
  package var value: Decimal { (price ?? 0) * Decimal(quantity) }
}
