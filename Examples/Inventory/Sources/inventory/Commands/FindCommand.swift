import ArgumentParser
import ObjectStoreModel

struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Lists items by a piece of their name or notes, or the beginning of their SKU."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "What to look for; case does not matter.") var text: String

  func run() throws {
    let query = Item.where {
      $0.sku.hasPrefix(text, .caseInsensitive) || $0.name.contains(text, .caseInsensitive)
        || $0.notes.contains(text, .caseInsensitive)
    }
    let items = try location.openForReading().read { try $0.fetch(query.order(by: \.name)) }
    guard !items.isEmpty else { throw InventoryError.noItem(sku: text) }
    Console.print(Table(items: items).lines)
  }
}
