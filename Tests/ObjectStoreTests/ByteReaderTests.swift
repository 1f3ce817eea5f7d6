import Testing

@testable import ObjectStoreCore

@Suite struct ByteReaderTests {
  private func string(_ bytes: [UInt8]) throws -> String {
    try unsafe bytes.withUnsafeBytes { bytes in
      var reader = unsafe ByteReader(bytes)
      return try reader.readString()
    }
  }

  /// The boundary bytes of the UTF-8 rules, and the bytes of U+FFFD, the replacement character.
  private static let edges: [UInt8] = [
    0, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBD, 0xBF, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0,
    0xF4, 0xF5,
  ]

  @Test func `readString accepts exactly the valid UTF-8 sequences`() {
    var isValid = [false: 0, true: 0]
    for number in 0..<(18 * 18 * 18 * 18) {
      var left = number
      let bytes = (0..<4).map { _ in
        defer { left /= 18 }
        return Self.edges[left % 18]
      }
      let expected = String(validating: bytes, as: UTF8.self)
      if (try? string(bytes)) != expected { Issue.record("\(bytes)") }
      isValid[expected != nil]? += 1
    }
    #expect(isValid.values.allSatisfy { $0 > 1_000 })
  }

  @Test(arguments: [0, 1, 15, 16, 31, 32, 150, 5_000])
  func `a string of any length is read, and refused if its last byte is invalid`(
    count: Int
  ) throws {
    let bytes = (0..<count).map { UInt8(97 + $0 % 26) }
    #expect(try Array(string(bytes).utf8) == bytes)
    #expect(throws: RecordError(.invalidValue)) { try string(bytes + [0xC3]) }
    #expect(try string(bytes + [0xEF, 0xBF, 0xBD]).last == "\u{FFFD}")
  }
}
