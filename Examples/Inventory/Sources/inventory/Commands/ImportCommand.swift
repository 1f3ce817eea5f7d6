import ArgumentParser
import ObjectStoreModel

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Reads a file of JSON lines; what is there already is replaced.",
    discussion: "Interrupted, it has taken the first lines; import the file again."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The file.") var file: String
  @Flag(help: "Leaves what is there already as it is.") var skip = false

  func run() throws {
    let options = ImportOptions(conflict: skip ? .skip : .replace, unknown: .refuse)
    let report = try location.open().importJSONLines(from: file, options: options)
    Console.print(
      "\(report.inserted) added, \(report.updated) changed, \(report.unchanged) the same, "
        + "\(report.skipped) skipped"
    )
  }
}
