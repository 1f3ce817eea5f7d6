import CLMDB

@testable import LMDB

extension Environment {
  /// Those that the last commit was made with, which LMDB leaves as they are.
  func syncFlags() throws -> Int32 {
    var flags: UInt32 = 0
    unsafe try check(mdb_env_get_flags(handle, &flags), "mdb_env_get_flags")
    return Int32(bitPattern: flags) & (MDB_NOSYNC | MDB_NOMETASYNC)
  }
}
