internal import LMDB

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A folder that gets its name when what lies in it is complete and safe from a power cut.
enum NewFolder {
  /// Runs `body` with the path of a folder of mode 0700, which then gets the name `path`.
  ///
  /// One of that name is never replaced. When `body` throws, nothing is left.
  ///
  /// - Throws: ``StoreError`` with `alreadyExists`, `permissionDenied`, `diskFull` or `other`, or
  ///   what `body` throws.
  static func make<R>(_ path: String, _ body: (String) throws -> R) throws -> R {
    var status = stat()
    guard unsafe lstat(path, &status) != 0 else {
      throw StoreError(.alreadyExists, "\(path): there is such a file or folder already")
    }
    let temporary = "\(path).partial-\(getpid())-\(UInt32.random(in: .min ... .max))"
    guard unsafe mkdir(temporary, 0o700) == 0 else { throw StoreError(errno: errno, path) }
    do {
      let result = try body(temporary)
      try FolderSync.run(temporary)
      // An empty folder, which alone this replaces, is one that was made just now.
      do throws(LMDBError) {
        try DurableFile.rename(temporary, to: path)
      } catch {
        throw StoreError(errno: error.code.rawValue, path)
      }
      do {
        try FolderSync.run(FolderSync.parent(of: path))
      } catch {
        remove(path)
        throw error
      }
      return result
    } catch {
      remove(temporary)
      throw error
    }
  }

  /// Removes the folder with the files of a store in it.
  static func remove(_ path: String) {
    for name in ["data.mdb", "lock.mdb"] { _ = unsafe unlink("\(path)/\(name)") }
    _ = unsafe rmdir(path)
  }
}
