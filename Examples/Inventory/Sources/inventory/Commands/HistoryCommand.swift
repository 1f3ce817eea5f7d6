import ArgumentParser
import Foundation
import InventoryModels
import ObjectStoreModel

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Lists the movements of an item, the latest first."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The SKU of the item.") var sku: String
  @Option(help: "The maximum number of movements.") var limit = 20

  func run() throws {
    var table = Table("WHEN", "CHANGE", "REASON")
    try location.openForReading().read { tx in
      let item = Reference(to: try tx.item(sku: sku))
      // The compound index serves both the item and the order.
      let query = Movement.where { $0.item == item }.order(by: \.date, .descending).limit(limit)
      for movement in try tx.fetch(query) {
        table.add(
          movement.date.formatted(.iso8601),
          movement.change > 0 ? "+\(movement.change)" : "\(movement.change)",
          movement.reason ?? ""
        )
      }
    }
    Console.print(table.lines)
  }
}
