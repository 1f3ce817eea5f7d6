/// The history of the download schema.
package enum DownloadMigrations {
  /// The schema version of the records.
  ///
  /// Programs with a lower one open a store of this version read-only. So it is raised only for a
  /// change that they must not write beside.
  package static let currentVersion: UInt32 = 1
}
