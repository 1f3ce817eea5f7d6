import ArgumentParser
import ObjectStoreModel

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Keeps an item at another place from now on."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The item.") var sku: String
  @Argument(help: "The place, which must be there.") var place: String

  func run() throws {
    try location.open(.readWrite).write { tx in
      let id = try tx.item(sku: sku).id
      try tx.update(Item.self, id) { $0.place = Reference(place) }
    }
  }
}
