// What the samples about releasing a change stand in.
import Foundation
import MigrationTesting
import ObjectStore
import ObjectStoreModel

/// Returns a value that the text around a sample has.
func some<Value>() -> Value { fatalError("samples are only compiled") }

@Model struct Recipe {
  @PrimaryKey var id: Int
  var name: String
  var minutes: Int
}

enum RecipeSchema {
  static let version: UInt32 = 2
  static var options: StoreOptions { some() }
}

var store: Store { some() }
var folder: String { some() }
var releases: SchemaFolder { some() }
var tester: MigrationTester { some() }
var minutesAsNumbers: MigrationStep { some() }
func expect(_ condition: Bool) {}
