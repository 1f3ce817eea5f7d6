/// How much of the changes that were not synced a power cut takes.
enum PowerLoss: Sendable, CaseIterable {
  /// All of them.
  case everything
  /// None of them.
  case nothing
  /// Of each sector all or none.
  case some
  /// Of each sector, of the names and of each size any number, from the last one back.
  case any

  /// The number of changes that are kept, out of `count` in order.
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
