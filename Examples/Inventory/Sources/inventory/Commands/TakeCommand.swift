import ArgumentParser
import Foundation
import ObjectStoreModel

struct TakeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "take",
    abstract: "Takes pieces of one or more items: all that is wanted, or nothing."
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var movement: MovementOptions

  func run() throws {
    try movement.run(in: location.open(.readWrite), sign: -1)
  }
}

struct PutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Puts pieces of one or more items back, or new ones."
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var movement: MovementOptions

  func run() throws {
    try movement.run(in: location.open(.readWrite), sign: 1)
  }
}

struct MovementOptions: ParsableArguments {
  @Argument(help: "Items and how many of each: BOLT:4, or BOLT for one.") var amounts: [Amount]
  @Option(name: .shortAndLong, help: "What for.") var reason: String?

  /// One transaction: an error in the last amount undoes the first.
  func run(in store: Store, sign: Int) throws {
    let items = try store.write { tx in
      try amounts.map { amount in
        try tx.changeQuantity(
          of: amount.sku,
          by: sign * amount.count,
          reason: reason,
          at: .now
        )
      }
    }
    Console.print(items.map(\.summary))
  }
}
