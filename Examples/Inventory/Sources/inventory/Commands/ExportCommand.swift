import ArgumentParser
import ObjectStoreModel

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes everything to a new file of JSON lines."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The file, which must not be there.") var file: String

  func run() throws {
    let count = try location.openForReading().exportJSONLines(to: file)
    Console.print("\(count) objects in \(file)")
  }
}
