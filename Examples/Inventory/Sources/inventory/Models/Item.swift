import Foundation
import ObjectStoreModel

/// A kind of thing of which there are so many pieces.
@Model
struct Item: Equatable {
  /// Serves `list --place`, in the order of names.
  #Index<Item>([\.place, \.name])

  @PrimaryKey var id: UUID
  /// What is printed on the shelf; it may change, the id does not.
  @Unique var sku: String
  @Indexed var name: String
  /// Changes with every movement, so it lives apart from the fields that do not.
  @Hot var quantity: Int
  /// A place with items cannot be removed.
  @OnDelete(.deny) var place: Reference<Place>
  @Indexed var tags: Set<String> = []
  var price: Decimal?
  var notes: String?

  /// What all pieces are worth; nothing without a price.
  var worth: Decimal { (price ?? 0) * Decimal(quantity) }
}
