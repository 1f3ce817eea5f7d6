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
package func isAddress(_ text: String, _ family: Int32) -> Bool {
  addressBytes(text, family) != nil
}

/// Returns the bytes of a numeric address of a family, `AF_INET` or `AF_INET6`, without brackets and zone;
/// `nil` for any other text.
///
/// The corresponding C function is `inet_pton`.
package func addressBytes(_ text: String, _ family: Int32) -> [UInt8]? {
  // C ends a text at a NUL.
  guard !text.utf8.contains(0) else { return nil }
  var bytes = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
  let result = unsafe text.withCString { text in
    unsafe bytes.withUnsafeMutableBytes { unsafe inet_pton(family, text, $0.baseAddress) }
  }
  return result == 1 ? bytes : nil
}

/// Returns the system's message for an error number, by default that of the last failed call.
package func systemErrorText(_ code: Int32 = errno) -> String {
  unsafe String(cString: strerror(code))
}
