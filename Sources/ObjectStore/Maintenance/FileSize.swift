#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The size of a file.
enum FileSize {
  /// In bytes.
  ///
  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied` or `other`.
  static func of(_ path: String) throws -> Int64 {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw StoreError(errno: errno, path) }
    return Int64(status.st_size)
  }
}
