import InventoryModels
import MigrationTesting

// Says what a change of the models does to the stores that exist, and records releases. Run it in the
// folder of the package.
SchemaCommand(
  models: InventorySchema.models,
  version: InventorySchema.version,
  folder: "Migrations"
).main()
