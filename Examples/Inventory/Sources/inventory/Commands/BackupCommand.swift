import ArgumentParser
import ObjectStoreModel

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies the store to a new folder, beside whoever writes to it."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The folder, which must not be there.") var folder: String

  func run() throws {
    try location.openForReading().backup(to: folder)
  }
}
