internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// The folder `waiters` of a store, in which processes list the downloads that they wait for.
///
/// Each process has a file with the ids of its downloads, and holds the lock of that file (`flock`)
/// while it waits. An engine that another process has started for its own downloads runs these
/// downloads, too. The lock ends with the process: a file without a lock was left by a kill, and the
/// next reader deletes it.
enum WaiterFolder {
  static let name = "waiters"
  /// The prefix of a file that is being written.
  private static let draftPrefix = "."

  /// The files of the processes that wait, including this one.
  ///
  /// Costs a system call if no process waits.
  static func names(in storePath: String) -> Set<String> {
    let names = namesInFolder("\(storePath)/\(name)") ?? []
    guard !names.isEmpty, isFolder(in: storePath) else { return [] }
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

  /// Returns the record ids that a file lists; empty if its process does not wait any more.
  ///
  /// Deletes a file that was left by a kill.
  static func ids(inFile file: String, in storePath: String) -> [String] {
    let path = "\(storePath)/\(name)/\(file)"
    do {
      // The lock is free: the process has ended.
      _ = try LockedFile.delete(path)
      return []
    } catch LockedFile.Refusal.locked {
      // The process waits.
    } catch {
      return []
    }
    guard
      let descriptor = try? FolderFile.open(file, in: "\(storePath)/\(name)", O_RDONLY)
    else { return [] }
    let data = try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd()
    return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init)
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
    // Readers delete files without a lock, so the file has another name until it is locked.
    let (draft, path) = ("\(folder)/\(draftPrefix)\(file)", "\(folder)/\(file)")
    // Another process may remove the empty folder between the calls.
    for _ in 0..<16 {
      if mkdir(folder, 0o700) == 0 {
        FolderOwner.giveFolder(folder)
      } else if errno == EEXIST, !isFolder(in: storePath) {
        throw .failed(ENOTDIR)
      }
      do throws(LockedFile.Refusal) {
        let locked = try LockedFile(creating: draft)
        let text = Array(ids.joined(separator: "\n").utf8)
        guard text.isEmpty || pwrite(locked.descriptor, text.span, at: 0) == text.count,
          rename(draft, path) == 0
        else {
          let code = errno
          unlink(draft)
          throw .failed(code)
        }
        return locked
      } catch .failed(ENOENT) {
        continue
      }
    }
    throw .failed(ENOENT)
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
  /// - Throws: ``EngineError`` with `cannotLock` if the store's folder cannot be written.
  package init(of ids: [String], storePath: String) throws(EngineError) {
    name = "\(getpid())-\(UUID().uuidString)"
    do throws(LockedFile.Refusal) {
      file = try WaiterFolder.add(name, listing: ids, in: storePath)
    } catch {
      throw EngineError(
        .cannotLock,
        "\(storePath)/\(WaiterFolder.name) cannot be used: \(error)"
      )
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
  private var files: Set<String> = []
  private var ids: Set<String> = []

  func contains(_ id: String) -> Bool { ids.contains(id) }

  /// Reads the files that have appeared since the last call.
  ///
  /// - Returns: The record ids that were not known, in order.
  mutating func readNew(in storePath: String) -> [String] {
    let names = WaiterFolder.names(in: storePath)
    guard names != files else { return [] }
    let new = names.subtracting(files).sorted()
    files = names
    return new.flatMap { WaiterFolder.ids(inFile: $0, in: storePath) }
      .filter { ids.insert($0).inserted }
  }

  /// Reads all files at the next call of ``readNew(in:)``, and returns their downloads again.
  mutating func readAgain() {
    self = Self()
  }
}
