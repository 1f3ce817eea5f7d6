import InventoryModels
import ObjectStoreModel

// In an extension of the protocol, so that snapshots and transactions can both use it.
extension ObjectReader where Self: ~Copyable {
  /// Returns the item with the given SKU.
  ///
  /// - Throws: `InventoryError.noItem` if no item has it.
  func item(sku: String) throws -> Item {
    guard let item = try first(Item.where { $0.sku == sku }) else {
      throw InventoryError.noItem(sku: sku)
    }
    return item
  }
}
