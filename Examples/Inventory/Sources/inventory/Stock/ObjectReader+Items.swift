import ObjectStoreModel

// On the protocol, so that reads and writes can both look items up.
extension ObjectReader where Self: ~Copyable {
  /// The item with that number on its shelf.
  func item(sku: String) throws -> Item {
    guard let item = try first(Item.where { $0.sku == sku }) else {
      throw InventoryError.noItem(sku: sku)
    }
    return item
  }
}
