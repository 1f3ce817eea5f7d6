internal import CommandLineSupport
internal import DownloadStore
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// The store of a call of aria2c, in the user's data folder, beside that of `dlstore`.
///
/// The files of the call determine it, so that a call with another URL for the same file, such as a
/// signed one, continues the download.
struct Aria2CallPlace: Sendable, Equatable {
  /// The path of the store.
  let path: String
  /// The key of the only download of the call: its path; `nil` without a given name.
  let key: String?
  private let folder: String
  private let id: String

  /// Determines the store.
  ///
  /// - Parameters:
  ///   - plan: The call.
  ///   - environment: The environment of the process.
  /// - Throws: ``CommandFailure`` if the folder cannot be made.
  init(of plan: Aria2Plan, _ environment: [String: String]) throws {
    let files = plan.entries.map { entry in
      let name = [entry.folder, entry.filename].compactMap(\.self).joined(separator: "/")
      return "\(entry.absoluteFolder ?? "")/\(name.isEmpty ? entry.url : name)"
    }
    // Joined by a character that no path contains.
    id = RecordIdentity.id(forURL: files.joined(separator: "\0"))
    folder = try Folder.made(at: StoreLocation.usualPath(environment) + "-aria2c")
    path = "\(folder)/\(id)"
    let named = plan.entries.first.flatMap { $0.filename == nil ? nil : files.first }
    key = named.flatMap { (try? RecordIdentity.validate(key: $0)) == nil ? nil : $0 }
  }

  /// Takes the lock of the call; `nil` if another process has it.
  ///
  /// - Throws: ``CommandFailure``.
  func lock() throws -> Aria2CallLock? { try Aria2CallLock(of: id, folder: folder) }

  /// Whether a download of the store has bytes to continue, or may have some.
  var hasBytes: Bool {
    guard let store = try? RecordStore(at: path, access: .readWrite),
      let records = try? store.records()
    else { return true }
    return records.contains { $0.received > 0 }
  }

  /// Deletes the store.
  ///
  /// Call this with the lock. What cannot be deleted is found by the next call.
  func delete() { try? FileManager.default.removeItem(atPath: path) }
}

/// The lock of a process that runs a call.
///
/// On a byte of one file, which the files of the call determine; it ends with the process. A file for
/// each call could not be deleted without a race.
final class Aria2CallLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock; `nil` if another process has it.
  ///
  /// - Throws: ``CommandFailure``.
  fileprivate init?(of id: String, folder: String) throws {
    let path = "\(folder)/.lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(SystemCall.status(), "cannot open \(path): \(systemErrorText())")
    }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t((UInt64(id, radix: 16) ?? 0) >> 2)
    lock.l_len = 1
    // A file system without locks has none, and no other process is noticed there.
    guard fcntl(descriptor, F_SETLK, &lock) != 0, errno == EACCES || errno == EAGAIN else { return }
    close(descriptor)
    return nil
  }

  deinit { close(descriptor) }
}
