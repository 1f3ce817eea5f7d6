import ArgumentParser
import Foundation
import InventoryModels
import ObjectStoreModel

struct TakeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "take",
    abstract: "Takes pieces of one or more items: all of them, or none if one is short."
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
    abstract: "Adds pieces of one or more items."
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var movement: MovementOptions

  func run() throws {
    try movement.run(in: location.open(.readWrite), sign: 1)
  }
}

struct MovementOptions: ParsableArguments {
  @Argument(help: "SKUs and amounts: BOLT:4, or BOLT for one piece.") var amounts: [Amount]
  @Option(name: .shortAndLong, help: "The reason, shown by `history`.") var reason: String?

  /// Changes all quantities in one transaction: an error in one of them rolls back all.
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
