import LMDB
import Testing

@Suite struct LMDBErrorTests {
  static let codes: [(LMDBError.Code, Int32, Bool)] = [
    (.keyExists, -30_799, false), (.notFound, -30_798, false), (.pageNotFound, -30_797, true),
    (.corrupted, -30_796, true), (.panic, -30_795, true), (.versionMismatch, -30_794, false),
    (.invalid, -30_793, true), (.mapFull, -30_792, false), (.databasesFull, -30_791, false),
    (.readersFull, -30_790, false), (.transactionFull, -30_788, false),
    (.mapResized, -30_785, false), (.incompatible, -30_784, false),
    (.badValueSize, -30_781, false),
  ]

  @Test(arguments: codes)
  func `error codes have the values of the C library`(
    code: LMDBError.Code,
    raw: Int32,
    isDamage: Bool
  ) {
    #expect(code.rawValue == raw)
    #expect(LMDBError(code, operation: "mdb_get").isCorruption == isDamage)
  }

  @Test func `an error description names the C function and the cause`() {
    let error = LMDBError(.mapFull, operation: "mdb_put")
    #expect("\(error)" == "mdb_put: MDB_MAP_FULL: Environment mapsize limit reached")
    #expect("\(LMDBError(.noSpace, operation: "mdb_put"))" == "mdb_put: No space left on device")
  }
}
