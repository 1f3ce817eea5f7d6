import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies the store to a new folder; other processes may write during the copy."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The folder to create, which must not exist.") var folder: String

  func run() throws {
    try location.openForReading().backup(to: folder)
  }
}
