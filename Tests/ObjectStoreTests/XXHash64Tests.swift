import Testing

@testable import ObjectStoreCore

@Suite struct XXHash64Tests {
  @Test(
    arguments: [
      ("", 0xEF46_DB37_51D8_E999),
      ("abc", 0x44BC_2CF5_AD77_0999),
      ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
    ] as [(String, UInt64)]
  )
  func `hashes match the specification`(text: String, hash: UInt64) {
    #expect(XXHash64.hash(Array(text.utf8), seed: 0) == hash)
  }

  @Test func `different seeds give different hashes`() {
    #expect(XXHash64.hash([1, 2, 3], seed: 1) != XXHash64.hash([1, 2, 3], seed: 2))
  }
}
