package import Foundation
package import ObjectStoreModel

/// A change of an item's quantity.
@Model
package struct Movement: Equatable {
  #Index<Movement>([\.item, \.date])

  @PrimaryKey package var id: UUID
  /// Deleting an item deletes its movements.
  @OnDelete(.cascade) package var item: Reference<Item>
  package var date: Date
  /// The number of pieces put in; negative if they were taken out.
  package var change: Int
  package var reason: String?

  package init(id: UUID, item: Reference<Item>, date: Date, change: Int, reason: String? = nil) {
    self.id = id
    self.item = item
    self.date = date
    self.change = change
    self.reason = reason
  }
}
