internal import SystemInterface

/// The failure of an operation that gives a file or a folder a name.
enum NamingFailure {
  /// Returns the system's message for an error number, with advice if the name may be the cause.
  ///
  /// Disks have different errors for names that they do not accept, such as one with `:` on exFAT.
  static func text(_ code: Int32) -> String {
    let mayBeName = [EINVAL, EILSEQ, ENAMETOOLONG].contains(code)
    return systemErrorText(code)
      + (mayBeName ? "; if its disk does not accept the name, choose another one" : "")
  }
}
