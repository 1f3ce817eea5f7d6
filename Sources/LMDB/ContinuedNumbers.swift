internal import SystemInterface

extension Environment {
  /// Opens an environment whose commits get higher numbers than those of the one that it replaces.
  ///
  /// Numbers that continue keep what other data says about earlier commits valid. An environment that
  /// has commits is opened as it is. Only this process may have the folder open.
  ///
  /// - Parameters:
  ///   - path: The folder, which exists.
  ///   - last: The number of the last commit of the environment that is to be replaced.
  /// - Returns: The environment.
  /// - Throws: ``LMDBError`` as ``open(_:options:)``.
  package static func open(
    _ path: String,
    continuingAfter last: UInt64
  ) throws(LMDBError) -> Environment {
    do {
      let environment = try open(path)
      guard try environment.lastTransactionID() == 0 else { return environment }
      // Now the environment is closed: LMDB reads the number when it opens the file.
    }
    try EnvironmentFile.setFirstNumber(of: path + "/data.mdb", after: last)
    return try open(path)
  }
}

extension Environment {
  /// Gives the last commit of a data file a higher number than `last`, if its own is not.
  ///
  /// For a file that takes the place of one with later commits, while only this process uses it. The
  /// numbers that those had are not used again. Synced on return; a kill leaves one of the numbers.
  ///
  /// - Throws: ``LMDBError`` with `corrupted` or `invalid`, or another system error.
  package static func raiseLastNumber(
    ofFile path: String,
    above last: UInt64
  ) throws(LMDBError) {
    try EnvironmentFile.raiseLastNumber(of: path, above: last)
  }
}

extension EnvironmentFile {
  /// Raises the number in the meta page of the last commit.
  ///
  /// LMDB writes the commit n to the meta page n mod 2, so the number stays even or odd.
  fileprivate static func raiseLastNumber(
    of path: String,
    above last: UInt64
  ) throws(LMDBError) {
    let file = try DataFileReader(path: path)
    let own = file.lastTransaction
    // A damaged file may have any number.
    guard own > 0, own <= last, last < greatestNumber else { return }
    let number = last + 1 + (last + 1 ^ own) & 1
    let descriptor = try StoreFile.openRegular(path, flags: O_WRONLY)
    defer { close(descriptor) }
    let count = pwrite(descriptor, number, at: file.transactionOffset(ofMetaPage: own & 1))
    guard count == 8 else { throw LMDBError(LMDBError.Code(rawValue: errno), operation: "pwrite") }
    try DurableFile.sync(descriptor, at: path)
  }

  /// The greatest number that a commit may have; the keys of a store's history have room for it.
  private static let greatestNumber: UInt64 = 1 << 48

  /// Gives the empty environment in a file the next odd number from `last` on, as if it were that of
  /// a commit.
  ///
  /// Odd numbers are those of the second meta page, and LMDB writes each commit to the page that does
  /// not have the last one.
  fileprivate static func setFirstNumber(
    of path: String,
    after last: UInt64
  ) throws(LMDBError) {
    // A damaged file may have any number.
    guard last < greatestNumber else { return }
    let file = try DataFileReader(path: path)
    guard file.lastTransaction == 0 else { return }
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "open")
    }
    defer { close(descriptor) }
    let number = last | 1
    let count = pwrite(descriptor, number, at: file.transactionOffset(ofMetaPage: 1))
    guard count == 8 else { throw LMDBError(LMDBError.Code(rawValue: errno), operation: "pwrite") }
  }
}
