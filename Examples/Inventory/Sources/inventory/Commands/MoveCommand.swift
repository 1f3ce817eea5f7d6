import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Moves an item to another place."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The SKU of the item.") var sku: String
  @Argument(help: "The new place, which must exist.") var place: String

  func run() throws {
    try location.open(.readWrite).write { tx in
      let id = try tx.item(sku: sku).id
      try tx.update(Item.self, key: id) { $0.place = Reference(place) }
    }
  }
}
