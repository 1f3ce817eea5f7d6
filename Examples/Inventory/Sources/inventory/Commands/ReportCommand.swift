import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Prints the stock and its value, in total and per place."
  )

  @OptionGroup var location: StoreLocation

  func run() throws {
    let report = try location.openForReading().read { try Report($0) }
    var table = Table("PLACE", "ITEMS", "PIECES", "VALUE")
    for line in report.lines {
      table.add(line.place, "\(line.items)", "\(line.pieces)", "\(line.value)")
    }
    let items = report.lines.reduce(0) { $0 + $1.items }
    table.add("total", "\(items)", "\(report.pieces)", "\(report.value)")
    Console.print(table.lines)
    if let price = report.highestPrice { Console.print("highest price: \(price)") }
  }
}
