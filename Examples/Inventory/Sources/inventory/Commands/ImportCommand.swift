import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports a file of JSON lines; existing objects are replaced.",
    discussion: """
      Each transaction imports a thousand lines. After an interruption, import the file again.
      """
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The file to import.") var file: String
  @Flag(help: "Keeps existing objects unchanged.") var skip = false

  func run() throws {
    let options = ImportOptions(conflict: skip ? .skip : .replace, unknown: .refuse)
    let report = try location.open().importJSONLines(from: file, options: options)
    Console.print(
      "\(report.inserted) added, \(report.updated) updated, \(report.unchanged) unchanged, "
        + "\(report.skipped) skipped"
    )
  }
}
