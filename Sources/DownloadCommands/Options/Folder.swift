internal import CommandLineSupport
internal import DownloadStore
internal import Foundation
internal import SystemInterface

extension Folder {
  /// Creates the folder and its parents, and returns its absolute path with symbolic links resolved,
  /// so that one folder is one root.
  ///
  /// A folder that root creates belongs to the owner of the folder
  /// that contains it.
  ///
  /// - Throws: ``CommandFailure`` with `cannotCreate`, `permissionDenied`, `inputOutput` or `usage`.
  static func made(at path: String) throws -> String {
    let path = absolutePath(path)
    guard path.utf8.first == UInt8(ascii: "/") else {
      throw CommandFailure(
        .cannotCreate,
        "the path of the current folder is unknown, because it was deleted or its path is too long: "
          + "change to another folder"
      )
    }
    var made = ""
    for part in components(of: path[...]) {
      let parent = made
      made += "/\(part)"
      if mkdir(made, 0o777) == 0 {
        FolderOwner.giveFolder(made)
      } else if errno != EEXIST, errno != EISDIR {
        let code = errno
        // A link to a missing folder.
        if !parent.isEmpty { try check(parent) }
        errno = code
        try check(made)
      }
    }
    try check(path)
    guard let real = try resolved(path) else { throw failure(path) }
    return real
  }

  /// Returns the path with symbolic links resolved; `nil` and `errno` if there is no such file.
  ///
  /// - Throws: ``CommandFailure`` with `usage` if that path is not UTF-8: a record cannot have it.
  static func resolved(_ path: String) throws(CommandFailure) -> String? {
    if let real = resolvedPath(path) { return real }
    guard errno == EILSEQ else { return nil }
    throw CommandFailure(.usage, "\(path) leads to a folder whose path is not valid UTF-8")
  }

  /// Throws if no file can be created in a folder.
  ///
  /// - Throws: ``CommandFailure`` with the status of the reason, such as `permissionDenied`.
  static func requireWritable(_ path: String) throws {
    guard access(path, W_OK | X_OK) != 0 else { return }
    let code = errno
    throw CommandFailure(
      SystemCall.status(code),
      "cannot write to the folder \(path): \(systemErrorText(code).lowercased())"
    )
  }

  /// Throws if a file has the name of a folder, or of one that contains it.
  ///
  /// - Throws: ``CommandFailure`` with `cannotCreate`.
  static func requireNoFile(at path: String) throws {
    var path = absolutePath(path)
    var status = stat()
    while statFollowingLinks(path, &status) != 0 {
      guard path.count > 1 else { return }
      path = (path as NSString).deletingLastPathComponent
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw CommandFailure(.cannotCreate, "\(path) is not a folder")
    }
  }

  private static func check(_ path: String) throws {
    let code = errno
    var status = stat()
    guard statFollowingLinks(path, &status) == 0 else {
      // A link whose folder is missing exists for `mkdir`.
      let found = errno
      if found == ENOENT,
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
      {
        throw CommandFailure(
          .cannotCreate,
          "\(path) is a link to \(target), which does not exist: create that folder, or remove the link"
        )
      }
      throw failure(path, code == EEXIST ? found : code)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw CommandFailure(.cannotCreate, "\(path) is not a folder")
    }
  }

  private static func failure(_ path: String, _ code: Int32 = errno) -> CommandFailure {
    let status = SystemCall.status(code)
    return CommandFailure(
      status == .notFound ? .cannotCreate : status,
      "cannot create the folder \(path): \(systemErrorText(code))"
    )
  }
}
