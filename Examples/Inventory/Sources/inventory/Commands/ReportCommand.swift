import ArgumentParser
import ObjectStoreModel

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Adds up what there is, place by place."
  )

  @OptionGroup var location: StoreLocation

  func run() throws {
    let report = try location.openForReading().read { try Report($0) }
    var table = Table("PLACE", "ITEMS", "PIECES", "WORTH")
    for line in report.lines {
      table.add(line.place, "\(line.items)", "\(line.pieces)", "\(line.worth)")
    }
    let items = report.lines.reduce(0) { $0 + $1.items }
    table.add("all", "\(items)", "\(report.pieces)", "\(report.worth)")
    Console.print(table.lines)
    if let dearest = report.dearest { Console.print("the dearest costs \(dearest)") }
  }
}
