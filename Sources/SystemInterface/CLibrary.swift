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

/// Whether a text is a numeric address of a family, `AF_INET` or `AF_INET6`, without brackets and zone.
///
/// The corresponding C function is `inet_pton`.
package func isAddress(_ text: String, _ family: Int32) -> Bool {
  // An IPv4 address needs less memory. C ends a text at a NUL.
  var address = in6_addr()
  guard !text.utf8.contains(0) else { return false }
  return unsafe text.withCString { unsafe inet_pton(family, $0, &address) } == 1
}

/// Returns the system's message for an error number, by default that of the last failed call.
package func systemErrorText(_ code: Int32 = errno) -> String {
  unsafe String(cString: strerror(code))
}
