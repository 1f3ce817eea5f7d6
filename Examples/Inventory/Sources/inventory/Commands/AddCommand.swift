import ArgumentParser
import Foundation
import ObjectStoreModel

struct AddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Adds an item."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The number on its shelf; no other item has it.") var sku: String
  @Argument(help: "What it is called.") var name: String
  @Option(name: .shortAndLong, help: "Where it is kept.") var place: String
  @Option(name: .shortAndLong, help: "How many there are.") var quantity = 0
  @Option(name: .shortAndLong, help: "A tag; may be given more than once.") var tag: [String] = []
  @Option(help: "What one costs, such as 4.20.") var price: Price?
  @Option(help: "What else there is to say.") var notes: String?

  func validate() throws {
    guard quantity >= 0 else { throw ValidationError("--quantity is less than nothing") }
    guard !sku.isEmpty, !sku.contains(":") else {
      throw ValidationError("an SKU has no colon and is not empty")
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
    // That the place is there is checked by the store when the write ends.
    try location.open().write { tx in try tx.add(item, at: .now) }
  }
}
