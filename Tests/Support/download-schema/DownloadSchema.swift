import DownloadStore
import MigrationTesting
import Migrations

/// Checks and records the schema of the download records, in the folder `Migrations` of the current
/// folder.
@main struct DownloadSchema {
  static func main() {
    SchemaCommand(
      models: RecordStore.models,
      version: DownloadMigrations.currentVersion,
      folder: "Migrations"
    ).main()
  }
}
