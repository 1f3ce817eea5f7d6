internal import LMDB
package import ObjectStoreCore
internal import SystemInterface

extension Store {
  /// Replaces the file of a damaged store with a repaired copy, and keeps the damaged file.
  ///
  /// The repair is that of ``repair(at:into:models:schemaVersion:)``. The damaged file stays in the
  /// store's folder as `data.mdb.damaged`, or `data.mdb.damaged-2` and so on if that name is taken. If the process is
  /// killed, `data.mdb` is either the damaged file or the complete copy. Needs disk space for the
  /// copy.
  ///
  /// - Returns: A report of the objects that were saved and lost, and the path of the damaged file.
  /// - Throws: ``StoreError`` with `busy` if this process or another one has the store open, or as
  ///   ``repair(at:into:models:schemaVersion:)``. The store is then unchanged.
  package static func repairInPlace(
    at path: String,
    models: [any Model.Type] = [],
    schemaVersion: UInt32? = nil
  ) throws -> (report: RepairReport, damagedFile: String) {
    try translating("repairing \(path)") {
      try Environment.withExclusiveAccess(to: path) {
        try InPlaceRepair(path: path, models: models, schemaVersion: schemaVersion).run()
      }
    }
  }
}

/// The steps of ``Store/repairInPlace(at:models:schemaVersion:)``.
private struct InPlaceRepair {
  let path: String
  let models: [any Model.Type]
  let schemaVersion: UInt32?

  private var file: String { path + "/data.mdb" }
  /// The folder in which the copy is made.
  private var folder: String { "\(path)/\(Self.folderName)" }
  private static let folderName = "data.mdb.repair"

  /// Makes the copy and swaps it in; no process has the store open.
  func run() throws -> (report: RepairReport, damagedFile: String) {
    // Left by a repair that was killed.
    NewFolder.remove(folder)
    let salvage = try StoreSalvage(path: path, models, schemaVersion)
    guard mkdir(folder, 0o700) == 0 else { throw StoreError(errno: errno, folder) }
    defer { NewFolder.remove(folder) }
    let report = try salvage.run(into: folder)
    let damagedFile = try keepDamagedFile()
    do {
      try FolderSync.run(path)
      try Environment.replaceDataFile(in: path, with: Self.folderName + "/data.mdb")
    } catch {
      // The store still has this file under its own name, unless only the last sync failed.
      if isSameFile(damagedFile, file) { _ = unlink(damagedFile) }
      throw error
    }
    return (report, damagedFile)
  }

  /// Gives the damaged file a second name, and returns its path.
  private func keepDamagedFile() throws -> String {
    var number = 1
    while true {
      let name = number == 1 ? "\(file).damaged" : "\(file).damaged-\(number)"
      do throws(LMDBError) {
        try DurableFile.link(file, to: name)
        return name
      } catch {
        guard error.code == .fileExists else { throw error }
        number += 1
      }
    }
  }

  private func isSameFile(_ one: String, _ other: String) -> Bool {
    var first = stat()
    var second = stat()
    return lstat(one, &first) == 0 && lstat(other, &second) == 0
      && first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }
}
