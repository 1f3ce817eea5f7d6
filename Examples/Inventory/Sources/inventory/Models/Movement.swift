import Foundation
import ObjectStoreModel

/// A change of an item's quantity.
@Model
struct Movement: Equatable {
  #Index<Movement>([\.item, \.date])

  @PrimaryKey var id: UUID
  /// Deleting an item deletes its movements.
  @OnDelete(.cascade) var item: Reference<Item>
  var date: Date
  /// The number of pieces put in; negative if they were taken out.
  var change: Int
  var reason: String?
}
