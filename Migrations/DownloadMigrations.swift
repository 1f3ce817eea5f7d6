/// The history of the download schema.
///
/// This module depends on no type of the application, so that a released step never changes its
/// effect.
package enum DownloadMigrations {
  /// The schema version that this code writes: the number of the newest file in `Schemas/`.
  package static let currentVersion: UInt32 = 2

  /// By model name, the ids of dropped fields, which must never be reused.
  package static let retiredIDs: [String: [UInt32]] = [:]
}
