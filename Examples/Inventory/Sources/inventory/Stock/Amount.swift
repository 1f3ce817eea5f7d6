import ArgumentParser

/// A number of pieces of an item, written `SKU:4`, or `SKU` for one piece.
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
