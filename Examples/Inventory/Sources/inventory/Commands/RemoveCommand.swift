import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes an item and its movements."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The SKU of the item.") var sku: String

  func run() throws {
    try location.open(.readWrite).write { tx in
      let id = try tx.item(sku: sku).id
      try tx.delete(Item.self, key: id)
    }
  }
}
