import ObjectStore
import TestSupport

extension TemporaryFolder {
  /// Opens the store in the folder, as a program with the given models and schema version.
  func open(_ models: any Model.Type..., version: UInt32 = 0) throws -> Store {
    var options = StoreOptions()
    options.schemaVersion = version
    return try Store(at: path, models: models, options: options)
  }
}
