import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Exports all objects to a new file of JSON lines."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The file to create, which must not exist.") var file: String

  func run() throws {
    let count = try location.openForReading().exportJSONLines(to: file)
    Console.print("exported \(count) objects to \(file)")
  }
}
