import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Lists items whose name or notes contain a text, or whose SKU starts with it."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The text to search for; case is ignored.") var text: String

  func run() throws {
    let query = Item.where {
      $0.sku.hasPrefix(text, .caseInsensitive) || $0.name.contains(text, .caseInsensitive)
        || $0.notes.contains(text, .caseInsensitive)
    }
    let items = try location.openForReading().read { try $0.fetch(query.order(by: \.name)) }
    guard !items.isEmpty else { throw InventoryError.noMatch(text: text) }
    Console.print(Table(items: items).lines)
  }
}
