internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// The folder `waiters` of a store, in which processes list the downloads that they wait for.
///
/// Each process has a file with the ids of its downloads, and holds the lock of that file (`flock`)
/// while it waits. An engine that another process has started for its own downloads runs these
/// downloads, too. The lock ends with the process: a file without a lock was left by a kill, and the
/// next reader deletes it. The next process that reads or writes the folder also deletes the drafts
/// that a kill has left.
enum WaiterFolder {
  static let name = "waiters"
  /// The prefix of a file that is being written.
  private static let draftPrefix = "."

  /// The files of the processes that wait, including this one.
  ///
  /// Deletes the drafts that were left by a kill. Costs a system call if no process waits.
  @discardableResult
  static func names(in storePath: String) -> Set<String> {
    let folder = "\(storePath)/\(name)"
    let names = namesInFolder(folder) ?? []
    guard !names.isEmpty, isFolder(in: storePath) else { return [] }
    for draft in names where draft.hasPrefix(draftPrefix) && isName(String(draft.dropFirst())) {
      // A process that is writing its draft has locked it, or begins again with another one.
      _ = try? LockedFile.delete("\(folder)/\(draft)")
    }
    return Set(names.filter(isName))
  }

  /// Whether the folder is one, and not a link to the folder of somebody else, whose files a reader would
  /// delete.
  private static func isFolder(in storePath: String) -> Bool {
    var status = stat()
    var store = stat()
    return lstat("\(storePath)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && statFollowingLinks(storePath, &store) == 0
      && [store.st_uid, geteuid()].contains(status.st_uid)
  }

  /// Whether a file has a name that ``WaiterRegistration`` gives: the id of a process and a UUID.
  static func isName(_ file: String) -> Bool {
    guard let dash = file.firstIndex(of: "-") else { return false }
    return pid_t(file[..<dash]) != nil && UUID(uuidString: String(file[dash...].dropFirst())) != nil
  }

  /// Returns the record ids that a file lists: none if its process does not wait any more, and `nil` if
  /// the file cannot be read now, for example because too many files are open.
  ///
  /// Deletes a file that was left by a kill.
  static func ids(inFile file: String, in storePath: String) -> [String]? {
    let folder = "\(storePath)/\(name)"
    do {
      // The lock is free: the process has ended.
      _ = try LockedFile.delete("\(folder)/\(file)")
      return []
    } catch LockedFile.Refusal.locked {
      // The process waits.
    } catch LockedFile.Refusal.failed {
      return nil
    } catch {
      // The file is gone, or no process of this program has made it.
      return []
    }
    do throws(LockedFile.Refusal) {
      let descriptor = try FolderFile.open(file, in: folder, O_RDONLY)
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      guard let data = try? handle.readToEnd() ?? Data() else { return nil }
      return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    } catch .failed {
      return nil
    } catch {
      return []
    }
  }

  /// Creates a file with a lock, and gives it its name once it is complete.
  ///
  /// - Parameters:
  ///   - file: A name that no other process uses.
  ///   - ids: The record ids to list.
  ///   - storePath: The folder of the store.
  /// - Returns: The locked file.
  /// - Throws: ``LockedFile/Refusal`` if the folder cannot be written.
  static func add(
    _ file: String,
    listing ids: [String],
    in storePath: String
  ) throws(LockedFile.Refusal) -> LockedFile {
    let folder = "\(storePath)/\(name)"
    names(in: storePath)
    // Another process may remove the empty folder, or a draft without a lock, between the calls.
    for _ in 0..<16 {
      try make(folder, in: storePath)
      // Readers delete files without a lock, so the file has another name until it is locked. A draft
      // whose lock another process has taken is deleted by that process.
      let draft = "\(folder)/\(draftPrefix)\(newName())"
      do throws(LockedFile.Refusal) {
        let locked = try LockedFile(creating: draft)
        let code = write(ids, to: locked.descriptor)
        guard code == 0, rename(draft, "\(folder)/\(file)") == 0 else {
          let code = code == 0 ? errno : code
          unlink(draft)
          throw .failed(code)
        }
        return locked
      } catch .failed(ENOENT) {
        continue
      } catch .locked {
        continue
      }
    }
    throw .failed(ENOENT)
  }

  /// Returns a name for a file of this process, which is given once.
  static func newName() -> String { "\(getpid())-\(UUID().uuidString)" }

  /// Creates the folder if it is missing.
  private static func make(
    _ folder: String,
    in storePath: String
  ) throws(LockedFile.Refusal) {
    if mkdir(folder, 0o700) == 0 { return FolderOwner.giveFolder(folder) }
    let code = errno
    guard code == EEXIST else { throw .failed(code) }
    guard !isFolder(in: storePath) else { return }
    // Another process may have removed the folder since.
    var status = stat()
    guard lstat(folder, &status) != 0, errno == ENOENT else { throw .failed(ENOTDIR) }
  }

  /// Writes ids to an empty file; returns the error number, or 0.
  private static func write(_ ids: [String], to descriptor: Int32) -> Int32 {
    let text = Array(ids.joined(separator: "\n").utf8)
    guard !text.isEmpty else { return 0 }
    let count = pwrite(descriptor, text.span, at: 0)
    // A disk that becomes full takes a part.
    return count < 0 ? errno : count == text.count ? 0 : ENOSPC
  }

  /// Deletes a file, and the folder if it is empty.
  static func remove(_ file: String, in storePath: String) {
    unlink("\(storePath)/\(name)/\(file)")
    rmdir("\(storePath)/\(name)")
  }
}

/// Lists downloads in the ``WaiterFolder`` of a store until it is released.
package final class WaiterRegistration: Sendable {
  private let storePath: String
  private let name: String
  private let file: LockedFile

  /// Lists downloads.
  ///
  /// - Parameters:
  ///   - ids: The ids of the records.
  ///   - storePath: The folder of the store.
  /// - Throws: ``EngineError`` with `cannotLock` if the store's folder cannot be written, `diskFull` or
  ///   `outOfResources`.
  package init(of ids: [String], storePath: String) throws(EngineError) {
    name = WaiterFolder.newName()
    do throws(LockedFile.Refusal) {
      file = try WaiterFolder.add(name, listing: ids, in: storePath)
    } catch {
      throw EngineError(error, using: "\(storePath)/\(WaiterFolder.name)")
    }
    self.storePath = storePath
  }

  deinit {
    WaiterFolder.remove(name, in: storePath)
  }
}

/// The downloads for which other processes wait, as far as an engine has read them.
///
/// A download stays when its process stops waiting: the engine completes what it has begun.
struct JoinedDownloads: Sendable {
  /// The files that were read.
  private var files: Set<String> = []
  private var ids: Set<String> = []

  func contains(_ id: String) -> Bool { ids.contains(id) }

  /// Reads the files that have appeared since the last call, and those that could not be read then.
  ///
  /// - Returns: The record ids that were not known, in order.
  mutating func readNew(in storePath: String) -> [String] {
    readNew(of: WaiterFolder.names(in: storePath)) { file in
      WaiterFolder.ids(inFile: file, in: storePath)
    }
  }

  /// Reads the files that are not known.
  ///
  /// - Parameters:
  ///   - names: All files in the folder.
  ///   - read: Returns the record ids in a file; `nil` if it cannot be read now.
  /// - Returns: The record ids that were not known, in order.
  mutating func readNew(of names: Set<String>, _ read: (String) -> [String]?) -> [String] {
    guard names != files else { return [] }
    let new = names.subtracting(files).sorted()
    files.formIntersection(names)
    var found: [String] = []
    for name in new {
      guard let listed = read(name) else { continue }
      files.insert(name)
      found += listed.filter { ids.insert($0).inserted }
    }
    return found
  }

  /// Reads all files at the next call of ``readNew(in:)``, and returns their downloads again.
  mutating func readAgain() {
    self = Self()
  }
}
