internal import LMDB
internal import ObjectStoreCore
internal import SystemInterface

/// The files of a migration in the folder of a store.
///
/// The new file is made in a folder of its own and renamed over `data.mdb` when it is complete. So a
/// migration that fails, is killed or fills the disk leaves the store as it was.
struct MigrationFiles {
  let path: String

  var file: String { path + "/data.mdb" }
  /// The folder in which the new file is made.
  var folder: String { "\(path)/\(Self.folderName)" }
  private static let folderName = "data.mdb.migration"
  private var copy: String { folder + "/data.mdb" }

  /// The name under which the file of a version is kept; with a number if another file has it.
  ///
  /// That file may be of an earlier migration, of a backup or of another program, and is kept.
  func previousName(version: UInt32) -> String {
    unusedName("\(Self.previousNamePrefix)\(version)")
  }
  static let previousNamePrefix = "data.mdb.before-"
  /// The name under which a migrated file is kept after a rollback; those of later rollbacks have a
  /// number.
  private static let rolledBackName = "data.mdb.rolled-back"

  /// Opens the new file; one that another migration has begun is deleted.
  ///
  /// The numbers of its commits continue after `last`, the last commit of the store.
  func openTarget(fingerprint: UInt64, after last: UInt64) throws -> Environment {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw StoreError(errno: errno, folder)
    }
    try NewFolder.requireOwn(folder)
    if Store.exists(at: folder), try !continues(fingerprint) {
      NewFolder.remove(folder)
      guard mkdir(folder, 0o700) == 0 else { throw StoreError(errno: errno, folder) }
    }
    return try Environment.open(folder, continuingAfter: last)
  }

  private func continues(_ fingerprint: UInt64) throws -> Bool {
    do {
      let environment = try Environment.open(folder)
      return try MigrationCursor.stored(in: environment)?.fingerprint == fingerprint
    } catch let error as LMDBError where error.isCorruption || error.code == .incompatible {
      return false
    }
  }

  /// Fails if the disk cannot hold a copy of the objects of a store.
  func requireSpace(for source: Environment) throws {
    let size = try FileSize.of(file) - source.freeByteCount()
    let begun = (try? FileSize.of(copy)) ?? 0
    guard let free = FreeSpace.ofDisk(at: path), free < size - begun else { return }
    throw StoreError(
      .diskFull,
      """
      the store cannot be migrated, and is unchanged: the new file needs about \(size >> 10) KiB, \
      and the disk has \(free >> 10) KiB
      """
    )
  }

  /// Puts the new file in the place of the old one, which is kept under a name unless that is empty.
  ///
  /// `didWrite` is called before the last step.
  func replace(keeping name: String, didWrite: (() -> Void)?) throws {
    if !name.isEmpty { try link(file, as: name) }
    didWrite?()
    try Environment.replaceDataFile(in: path, with: Self.folderName + "/data.mdb")
    NewFolder.remove(folder)
  }

  /// Restores a previous file.
  ///
  /// The numbers of its commits continue after `last`, the last commit of the present file.
  ///
  /// - Returns: The path under which the present file is kept.
  func restore(_ name: String, after last: UInt64) throws -> String {
    // The file of an earlier rollback may be the only one with what was written before it.
    let kept = unusedName(Self.rolledBackName)
    try link(file, as: kept)
    try Environment.raiseLastNumber(ofFile: "\(path)/\(name)", above: last)
    try Environment.replaceDataFile(in: path, with: name)
    // Begun by a program whose migration is undone.
    NewFolder.remove(folder)
    return "\(path)/\(kept)"
  }

  /// The name, or the name with the first number from 2 on, that no other file has.
  private func unusedName(_ wanted: String) -> String {
    var name = wanted
    var number = 1
    while isTaken(name) {
      number += 1
      name = "\(wanted)-\(number)"
    }
    return name
  }

  /// Whether something else than the data file has a name in the store's folder.
  ///
  /// A kill after ``link(_:as:)`` leaves a second name of the data file.
  private func isTaken(_ name: String) -> Bool {
    var own = stat()
    var named = stat()
    guard lstat("\(path)/\(name)", &named) == 0 else { return errno != ENOENT }
    return lstat(file, &own) != 0 || own.st_dev != named.st_dev || own.st_ino != named.st_ino
  }

  /// Gives the data file a second name in the store's folder, which nothing else has.
  private func link(_ file: String, as name: String) throws {
    let link = "\(path)/\(name)"
    var status = stat()
    if lstat(link, &status) != 0 || isTaken(name) { try DurableFile.link(file, to: link) }
    try FolderSync.run(path)
  }
}

/// The memory of the process that is not part of a file.
enum AnonymousMemory {
  /// The number of bytes; `nil` if the system does not tell.
  static var current: Int64? {
    #if os(Linux)
      let descriptor = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = read(descriptor, into: &bytes)
      guard count > 0 else { return nil }
      let text = String(decoding: bytes[..<count], as: UTF8.self)
      guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
        let number = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      else { return nil }
      return Int64(number).map { $0 << 10 }
    #else
      return nil
    #endif
  }
}
