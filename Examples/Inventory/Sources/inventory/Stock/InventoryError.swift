/// What the tool itself refuses; the store has its own errors.
enum InventoryError: Error, Equatable {
  case noItem(sku: String)
  case notEnough(sku: String, wanted: Int, there: Int)
  case tooMany(sku: String)
  case invalid(String)
}

extension InventoryError: CustomStringConvertible {
  var description: String {
    switch self {
    case .noItem(let sku): "there is no item \(sku)"
    case .notEnough(let sku, let wanted, let there):
      "\(wanted) of \(sku) are wanted and \(there) are there"
    case .tooMany(let sku): "nobody can have so many of \(sku)"
    case .invalid(let message): message
    }
  }
}
