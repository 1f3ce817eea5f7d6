import ArgumentParser
import Foundation
import InventoryModels
import ObjectStoreModel

struct AddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Adds an item."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The stock number; unique.") var sku: String
  @Argument(help: "The name.") var name: String
  @Option(name: .shortAndLong, help: "The place where the item is stored.") var place: String
  @Option(name: .shortAndLong, help: "The initial quantity.") var quantity = 0
  @Option(name: .shortAndLong, help: "A tag; repeatable.") var tag: [String] = []
  @Option(help: "The price of one piece, such as 4.20.") var price: Price?
  @Option(help: "Free text.") var notes: String?

  func validate() throws {
    guard quantity >= 0 else { throw ValidationError("--quantity must not be negative") }
    guard !sku.isEmpty, !sku.contains(":") else {
      throw ValidationError("an SKU must not be empty or contain a colon")
    }
  }

  func run() throws {
    let item = Item(
      id: UUID(),
      sku: sku,
      name: name,
      quantity: quantity,
      place: Reference(place),
      tags: Set(tag),
      price: price?.value,
      notes: notes
    )
    // The store checks at the end of the write that the place exists.
    try location.open().write { tx in try tx.add(item, at: .now) }
  }
}
