import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct RepairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Copies the readable objects of a damaged store to a new store."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The folder of the new store, which must not exist.") var folder: String

  func run() throws {
    let report = try Store.repair(at: location.path, into: folder)
    for (name, model) in report.models.sorted(by: { $0.key < $1.key }) {
      Console.print("\(name): \(model.saved) saved, \(model.lost.count) lost")
    }
    for note in report.notes { Console.note(note) }
    guard report.isComplete else {
      throw StoreError(.damaged, "some objects of \(location.path) could not be repaired")
    }
  }
}
