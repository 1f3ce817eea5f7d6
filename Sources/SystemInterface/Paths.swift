// The calls that take a path. They have the names, the results and the `errno` of the C functions,
// but take strings and values, so that a caller handles no pointer.

/// Opens a file, and returns its descriptor, or -1 and `errno`.
package func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
  unsafe path.withCString { unsafe open($0, flags, mode) }
}

/// Examines the file that a path names, following symbolic links; the corresponding C function is
/// `stat`.
///
/// It has another name, because Swift finds the structure `stat` before a function of this module.
package func statFollowingLinks(_ path: String, _ status: inout stat) -> Int32 {
  unsafe path.withCString { unsafe stat($0, &status) }
}

/// Examines what a path names; does not follow a symbolic link at its end.
package func lstat(_ path: String, _ status: inout stat) -> Int32 {
  unsafe path.withCString { unsafe lstat($0, &status) }
}

/// Examines an open file.
package func fstat(_ descriptor: Int32, _ status: inout stat) -> Int32 {
  unsafe withUnsafeMutablePointer(to: &status) { unsafe fstat(descriptor, $0) }
}

/// Returns the state of the volume that contains a folder; `nil` and `errno` if it cannot be queried.
///
/// The corresponding C function is `statvfs`.
package func volumeStatus(ofFolder path: String) -> statvfs? {
  var status = statvfs()
  return unsafe path.withCString { unsafe statvfs($0, &status) } == 0 ? status : nil
}

/// Returns the state of the volume that contains an open file; `nil` and `errno` if it cannot be
/// queried.
///
/// The corresponding C function is `fstatvfs`.
package func volumeStatus(ofFile descriptor: Int32) -> statvfs? {
  var status = statvfs()
  return unsafe fstatvfs(descriptor, &status) == 0 ? status : nil
}

@discardableResult
package func unlink(_ path: String) -> Int32 {
  unsafe path.withCString { unsafe unlink($0) }
}

/// Deletes a file of an open folder.
@discardableResult
package func unlinkat(_ folder: Int32, _ name: String, _ flags: Int32) -> Int32 {
  unsafe name.withCString { unsafe unlinkat(folder, $0, flags) }
}

@discardableResult
package func rename(_ old: String, _ new: String) -> Int32 {
  unsafe old.withCString { old in unsafe new.withCString { unsafe rename(old, $0) } }
}

/// Renames a file in one step, and fails with `EEXIST` if the new name is taken.
///
/// The corresponding C functions are `renameat2` and `renamex_np`.
package func renameWithoutReplacing(_ old: String, _ new: String) -> Int32 {
  #if canImport(Darwin)
    return unsafe renamex_np(old, new, UInt32(RENAME_EXCL))
  #else
    // Swift does not import `renameat2`.
    typealias Function =
      @convention(c) (
        Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
      ) -> Int32
    guard let symbol = unsafe dlsym(nil, "renameat2") else {
      errno = ENOSYS
      return -1
    }
    let renameat2 = unsafe unsafeBitCast(symbol, to: Function.self)
    let noReplace: UInt32 = 1
    return unsafe renameat2(AT_FDCWD, old, AT_FDCWD, new, noReplace)
  #endif
}

package func link(_ old: String, _ new: String) -> Int32 {
  unsafe old.withCString { old in unsafe new.withCString { unsafe link(old, $0) } }
}

package func mkdir(_ path: String, _ mode: mode_t) -> Int32 {
  unsafe path.withCString { unsafe mkdir($0, mode) }
}

@discardableResult
package func rmdir(_ path: String) -> Int32 {
  unsafe path.withCString { unsafe rmdir($0) }
}

package func access(_ path: String, _ mode: Int32) -> Int32 {
  unsafe path.withCString { unsafe access($0, mode) }
}

/// Returns the absolute path of an existing file, with symbolic links resolved; `nil` and `errno` if
/// there is none, and `EILSEQ` if it is not UTF-8.
///
/// The corresponding C function is `realpath`.
package func resolvedPath(_ path: String) -> String? {
  guard let real = unsafe realpath(path, nil) else { return nil }
  let text = unsafe String(validatingCString: real)
  unsafe free(real)
  if text == nil { errno = EILSEQ }
  return text
}

/// Creates a file with a name of its own, and removes the name.
///
/// The corresponding C functions are `mkstemp` and `unlink`.
///
/// - Parameter template: The path, which ends in `XXXXXX`.
/// - Returns: A descriptor that `exec` closes, or -1 and `errno`.
package func openUnnamedFile(_ template: String) -> Int32 {
  var path = Array(template.utf8CString)
  let descriptor = unsafe mkstemp(&path)
  guard descriptor >= 0 else { return descriptor }
  unsafe unlink(path)
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  return descriptor
}

/// Creates a folder with a name of its own, which only its owner can access.
///
/// The corresponding C function is `mkdtemp`.
///
/// - Parameter template: The path, which ends in `XXXXXX`.
/// - Returns: The path; `nil` and `errno` if the folder cannot be created.
package func makeTemporaryFolder(_ template: String) -> String? {
  var template = Array(template.utf8CString)
  return unsafe template.withUnsafeMutableBufferPointer { template in
    unsafe template.baseAddress.flatMap { unsafe mkdtemp($0) }.map { unsafe String(cString: $0) }
  }
}

/// Returns the names in a folder, also `.` and `..`; `nil` and `errno` if it cannot be read.
///
/// A name that is not UTF-8 is left out: with U+FFFD it would be that of another file.
///
/// The corresponding C functions are `opendir` and `readdir`.
package func namesInFolder(_ path: String) -> [String]? {
  guard let entries = unsafe opendir(path) else { return nil }
  defer { unsafe closedir(entries) }
  var names: [String] = []
  while let entry = unsafe readdir(entries) {
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
      unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
        unsafe String(validatingCString: $0)
      }
    }
    if let name { names.append(name) }
  }
  return names
}

/// Returns the path of the folder that has the file or folder of a path; `.` if the path is a name.
///
/// This and ``lastName(in:)`` find the slashes in the bytes: a slash can be one `Character` with a
/// scalar beside it, such as a combining mark after it.
package func parentFolder(of path: String) -> String {
  let names = path.utf8.split(separator: UInt8(ascii: "/"))
  let root = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
  guard names.count > 1 else { return root.isEmpty ? "." : root }
  return root + names.dropLast().map { String(Substring($0)) }.joined(separator: "/")
}

/// Returns the last name in a path; the path itself if it has none.
package func lastName(in path: String) -> String {
  path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
}

/// Returns a path that stays right when the current folder changes; `nil` if that folder is gone, or
/// if its path is not UTF-8.
package func absolutePath(_ path: String) -> String? {
  guard path.utf8.first != UInt8(ascii: "/") else { return path }
  guard let folder = currentFolderBytes(), let text = String(validating: folder, as: UTF8.self)
  else {
    return nil
  }
  return "\(text)/\(path)"
}

/// Returns the path of the current folder, as bytes; `nil` if that folder is gone.
///
/// The corresponding C function is `getcwd`.
package func currentFolderBytes() -> [UInt8]? {
  guard let folder = unsafe getcwd(nil, 0) else { return nil }
  defer { unsafe free(folder) }
  return unsafe Array(UnsafeRawBufferPointer(start: folder, count: strlen(folder)))
}
