/// The arguments of the program `simulate`.
package struct SimulationOptions: Sendable, Equatable {
  /// The reason why arguments cannot be used, with the usage.
  package struct UsageError: Error, Equatable {
    package var message: String
  }

  /// How the program is called.
  package static let usage = """
    usage: simulate [--seeds N] [--from SEED] [--defect NAME]
           simulate --seed SEED [--defect NAME]

    Runs N seeds, 1000 by default, on all processors, from SEED or a random one on; --seed runs one and
    prints every step. --defect injects an error that the simulation must find.
    """

  /// The seed of a single run with every step; `nil` to run several.
  package var seed: UInt64?
  /// The first of several seeds; `nil` for a random one.
  package var first: UInt64?
  /// The number of seeds.
  package var count = 1_000
  package var defects: Set<Defect> = []

  /// Parses the arguments without the program's name.
  ///
  /// - Throws: ``UsageError`` for an unknown option, and for a missing or invalid value.
  package init(_ arguments: some Sequence<String>) throws(UsageError) {
    var words = arguments.makeIterator()
    var counts = false
    while let name = words.next() {
      guard ["--seed", "--from", "--seeds", "--defect"].contains(name) else {
        throw Self.error("there is no option '\(name)'")
      }
      guard let value = words.next() else { throw Self.error("\(name) needs a value") }
      switch name {
      case "--seed": seed = try Self.number(value, name)
      case "--from": first = try Self.number(value, name)
      case "--seeds":
        guard let number = Int(value), number > 0 else {
          throw Self.error("\(name): '\(value)' is not a number above zero")
        }
        (count, counts) = (number, true)
      default:
        guard let defect = Defect(rawValue: value) else {
          let names = Defect.allCases.map(\.rawValue).joined(separator: ", ")
          throw Self.error("there is no defect '\(value)': \(names)")
        }
        defects = [defect]
      }
    }
    guard seed == nil || first == nil && !counts else {
      throw Self.error("--seed runs one seed: it excludes --seeds and --from")
    }
  }

  private static func number(_ text: String, _ name: String) throws(UsageError) -> UInt64 {
    guard let number = UInt64(text) else {
      throw error("\(name): '\(text)' is not a seed from 0 to \(UInt64.max)")
    }
    return number
  }

  private static func error(_ message: String) -> UsageError {
    UsageError(message: "simulate: \(message)\n\(usage)")
  }
}
