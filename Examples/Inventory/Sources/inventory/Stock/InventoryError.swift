/// An error of the tool itself; the store throws its own errors.
enum InventoryError: Error, Equatable {
  case noItem(sku: String)
  case noMatch(text: String)
  case notEnough(sku: String, requested: Int, inStock: Int)
  case overflow(sku: String)
}

extension InventoryError: CustomStringConvertible {
  var description: String {
    switch self {
    case .noItem(let sku): "no item has the SKU \(sku)"
    case .noMatch(let text): "no item matches \(text)"
    case .notEnough(let sku, let requested, let inStock):
      "not enough of \(sku): \(requested) requested, \(inStock) in stock"
    case .overflow(let sku): "the quantity of \(sku) would exceed \(Int.max)"
    }
  }
}
