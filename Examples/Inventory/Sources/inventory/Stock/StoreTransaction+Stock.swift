import Foundation
import ObjectStoreModel

// Operations are parts of a transaction, so that callers join them into one that happens whole.
extension StoreTransaction {
  /// Adds the item, and the movement that brought its first pieces.
  mutating func add(_ item: Item, at date: Date) throws {
    try insert(item)
    guard item.quantity != 0 else { return }
    try record(item.quantity, of: item, reason: "added", at: date)
  }

  /// Changes how many pieces there are, and records why.
  ///
  /// - Returns: The item as it is then.
  @discardableResult
  mutating func changeQuantity(
    of sku: String,
    by change: Int,
    reason: String?,
    at date: Date
  ) throws -> Item {
    var item = try item(sku: sku)
    let (sum, isTooMany) = item.quantity.addingReportingOverflow(change)
    guard !isTooMany else { throw InventoryError.tooMany(sku: sku) }
    guard sum >= 0 else {
      throw InventoryError.notEnough(sku: sku, wanted: -change, there: item.quantity)
    }
    item.quantity = sum
    // Writes the hot part alone: nothing else differs.
    try update(Item.self, item.id) { $0.quantity = sum }
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
