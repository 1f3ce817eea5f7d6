import ArgumentParser
import Foundation
import InventoryModels
import ObjectStoreModel

/// The option for the folder of the store.
struct StoreLocation: ParsableArguments {
  @Option(
    name: .long,
    help: """
      The folder of the store. Default: $INVENTORY_STORE, else $XDG_DATA_HOME/inventory, else \
      ~/.local/share/inventory.
      """
  )
  var store: String?

  var path: String {
    let environment = ProcessInfo.processInfo.environment
    if let path = store ?? environment["INVENTORY_STORE"], !path.isEmpty { return path }
    let data =
      environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : $0 }
      ?? NSHomeDirectory() + "/.local/share"
    return data + "/inventory"
  }

  /// Opens the store for writing, and creates it if it does not exist.
  func open(_ access: StoreOptions.Access = .create) throws -> Store {
    try Store(
      at: path,
      models: InventorySchema.models,
      options: StoreOptions(access: access, schemaVersion: InventorySchema.version)
    )
  }

  /// Opens an existing store for reading.
  func openForReading() throws -> Store { try open(.readOnly) }
}
