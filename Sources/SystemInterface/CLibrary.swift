#if canImport(Darwin)
  @_exported public import Darwin
#elseif canImport(Musl)
  @_exported public import Musl
#else
  @_exported public import Glibc
#endif

extension stat {
  /// The time at which the contents of the file last changed.
  package var modificationTime: timespec {
    #if canImport(Darwin)
      st_mtimespec
    #else
      st_mtim
    #endif
  }
}

/// Returns the system's message for an error number, by default that of the last failed call.
package func systemErrorText(_ code: Int32 = errno) -> String {
  unsafe String(cString: strerror(code))
}
