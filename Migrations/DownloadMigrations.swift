/// The history of the download schema.
///
/// This module knows no type of the application: a step must do in ten years what it does today.
public enum DownloadMigrations {
  /// The version that programs of this source write: the number of the newest file in `Schemas/`.
  public static let currentVersion: UInt32 = 1

  /// By model name, the ids of fields that are gone and must never come back.
  public static let retiredIDs: [String: [UInt32]] = [:]
}
