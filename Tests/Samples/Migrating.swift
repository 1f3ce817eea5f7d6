// What the samples of MigrationTesting stand in.
import MigrationTesting
import ObjectStore
import ObjectStoreModel
import Testing

/// Returns a value that the text around a sample has.
func some<Value>() -> Value { fatalError("samples are only compiled") }

@Model struct Note {
  @PrimaryKey var id: Int64
  var text: String

  static var storeOptions: StoreOptions { some() }
}
