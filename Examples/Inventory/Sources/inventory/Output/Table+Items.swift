import InventoryModels
import ObjectStoreModel

extension Table {
  init(items: some Sequence<Item>) {
    self.init("SKU", "COUNT", "NAME", "PLACE", "PRICE", "TAGS")
    for item in items {
      add(
        item.sku,
        "\(item.quantity)",
        item.name,
        item.place.key,
        item.price.map { "\($0)" } ?? "-",
        item.tags.sorted().joined(separator: ",")
      )
    }
  }
}

extension Item {
  /// A line of text that describes the item.
  var summary: String { "\(sku)  \(quantity)  \(name)  at \(place.key)" }
}
