import Foundation
import InventoryModels
import ObjectStoreModel

// These operations are parts of a transaction, so that callers can combine them into an atomic one.
extension StoreTransaction {
  /// Adds the item, and a movement for its initial quantity.
  mutating func add(_ item: Item, at date: Date) throws {
    try insert(item)
    guard item.quantity != 0 else { return }
    try record(item.quantity, of: item, reason: "added", at: date)
  }

  /// Changes the quantity of an item, and records the movement.
  ///
  /// - Returns: The changed item.
  @discardableResult
  mutating func changeQuantity(
    of sku: String,
    by change: Int,
    reason: String?,
    at date: Date
  ) throws -> Item {
    var item = try item(sku: sku)
    let (sum, isOverflow) = item.quantity.addingReportingOverflow(change)
    guard !isOverflow else { throw InventoryError.overflow(sku: sku) }
    guard sum >= 0 else {
      throw InventoryError.notEnough(sku: sku, requested: -change, inStock: item.quantity)
    }
    item.quantity = sum
    // Writes the hot part alone: nothing else differs.
    try update(Item.self, key: item.id) { $0.quantity = sum }
    try record(change, of: item, reason: reason, at: date)
    return item
  }

  private mutating func record(
    _ change: Int,
    of item: Item,
    reason: String?,
    at date: Date
  ) throws {
    try insert(
      Movement(id: UUID(), item: Reference(to: item), date: date, change: change, reason: reason)
    )
  }
}
