import CLMDB

@testable import LMDB

extension Environment {
  /// Returns the sync flags of the last commit, which LMDB keeps until the next one.
  func syncFlags() throws -> Int32 {
    var flags: UInt32 = 0
    unsafe try check(mdb_env_get_flags(handle.raw, &flags), "mdb_env_get_flags")
    return Int32(bitPattern: flags) & (MDB_NOSYNC | MDB_NOMETASYNC)
  }
}
