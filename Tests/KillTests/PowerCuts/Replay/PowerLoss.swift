/// How many of the changes that were not synced a power cut loses.
enum PowerLoss: Sendable, CaseIterable {
  /// All of them.
  case everything
  /// None of them.
  case nothing
  /// For each sector, all or none.
  case some
  /// For each sector, and for names and sizes, any number of the latest ones.
  case any

  /// Returns the number of changes that are kept, out of `count` in order.
  func kept(of count: Int, using random: inout some RandomNumberGenerator) -> Int {
    switch self {
    case .everything: 0
    case .nothing: count
    case .some: Bool.random(using: &random) ? count : 0
    case .any: Int.random(in: 0...count, using: &random)
    }
  }

  static func random(using random: inout some RandomNumberGenerator) -> PowerLoss {
    allCases[Int.random(in: 0..<allCases.count, using: &random)]
  }
}
