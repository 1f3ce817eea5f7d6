import ArgumentParser

/// So many pieces of an item, written `SKU` or `SKU:4`.
struct Amount: Equatable {
  var sku: String
  var count: Int
}

extension Amount: ExpressibleByArgument {
  init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":") else {
      self.init(sku: argument, count: 1)
      return
    }
    guard let count = Int(argument[argument.index(after: colon)...]), count > 0 else { return nil }
    self.init(sku: String(argument[..<colon]), count: count)
  }
}
